// Processes of the payment benchmarks that are not Node: the libSQL server and workerd. They end
// with ours, as under `npm start`.

import { type Child, type ChildSpec, spawnChild } from '../../start/child.ts'
import { stopsToo } from '../child.ts'

export interface Program {
  pid: number
  stop(): Promise<void>
}

/** `ready` resolves when the process serves requests, and rejects if it fails to start. */
export async function startProgram(spec: ChildSpec, ready: () => Promise<void>): Promise<Program> {
  let child: Child | undefined
  const stop = async () => {
    child?.stop()
    await child?.ended
  }
  const forget = stopsToo(stop)
  child = spawnChild(spec)
  void child.ended.then(forget)
  try {
    await ready()
  } catch (error) {
    await stop()
    throw error
  }
  const { pid } = child
  if (pid === undefined) throw new Error(`${spec.name} has no pid.`)
  return { pid, stop }
}

// The real process around a command line: its streams, its signals and its exit code.

import type { Io, World } from './command.ts'
import { main } from './program.ts'

/** Ends the process. */
export async function runProcess(
  world: Pick<World, 'commands' | 'loadFile' | 'loadHome'>,
): Promise<undefined> {
  const io = processIo()
  const code = await main(process.argv.slice(2), {
    ...world,
    io,
    env: process.env,
    cwd: process.cwd(),
  })
  // A pipe takes all that was written first. A handle that a watcher left open must not keep us.
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)))
}

function processIo(): Io {
  // The reader of our output may end before us (`| head`); our work goes on.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    isTerminal: process.stderr.isTTY === true,
    ended,
  }
}

function ended(withParent: boolean): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      process.once(signal, () => {
        resolve(signal)
        // A second request means: do not wait for the rest.
        process.on(signal, () => process.exit(1))
      })
    }
    if (!withParent) return
    process.stdin.on('end', () => resolve('parent'))
    process.stdin.on('error', () => resolve('parent'))
    process.stdin.resume()
  })
}

// The command line of the package, on each runtime that it is for.

import { execFileSync } from 'node:child_process'
import { mkdir, realpath, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import manifest from '../../../package.json' with { type: 'json' }
import { lanAddresses } from '../../../system/local/share.ts'
import { denoBinary } from '../../../tools/start/deno.ts'
import { serveEdge } from '../../sidecar/edge-server.ts'
import { token } from '../../support/edge.ts'
import {
  CURRENT,
  type InstalledPackage,
  MACHINE,
  NODES,
  run,
} from '../../support/installed-package.ts'
import { PATIENT } from '../../support/patience.ts'
import { startProgram } from '../../support/program.ts'

const TASK = '---\ntitle: One\nstatus: open\n---\n'
const MACHINE_NODE = execFileSync('node', ['--version'], { env: MACHINE, encoding: 'utf8' }).trim()
const isOld = Number(/^v(\d+)/.exec(MACHINE_NODE)?.[1]) < 22

export function packageCommands(installed: () => InstalledPackage): void {
  const script = () => join(installed().dir, 'node/signalbox.js')
  const board = () => join(installed().folder, 'board')

  describe('the command line of the package', () => {
    beforeAll(async () => {
      const store = join(board(), '.cairn')
      await mkdir(join(store, 'tasks'), { recursive: true })
      await writeFile(join(store, 'config.yaml'), 'prefix: T\nstates: [open]\nclosed: []\n')
      await writeFile(join(store, 'tasks/T-1.md'), TASK)
    })

    it('is what npx finds, and finds a board', async () => {
      const args = ['--no-install', 'signalbox', 'doctor', 'board']
      const { stdout } = await run('npx', args, { cwd: installed().folder, env: CURRENT })
      expect(stdout).toMatch(/^ok {5}board .*1 task/m)
    })

    it.skipIf(!isOld)(`says in one sentence that Node ${MACHINE_NODE} is too old`, async () => {
      await expect(run('node', [script(), 'token'], { env: MACHINE })).rejects.toMatchObject({
        code: 2,
        stdout: '',
        stderr: `signalbox: Node ${MACHINE_NODE.slice(1)} is too old: Signalbox needs Node 22.22 or newer.\n`,
      })
    })

    it('names signalbox.config.ts of the folder before it runs, and skips it with --no-config', async () => {
      const folder = join(installed().folder, 'configured')
      await mkdir(folder)
      const config = "console.error('it runs')\nexport default { payments: { gatways: {} } }\n"
      await writeFile(join(folder, 'signalbox.config.mjs'), config)
      const env = { ...MACHINE, SIGNALBOX_EDGE: '' }
      const doctor = async (...more: string[]) => {
        const argv = [script(), 'payments', 'doctor', ...more]
        const done = run(process.execPath, argv, { cwd: folder, env })
        return await done.catch((error: unknown) => error as { stdout: string; stderr: string })
      }
      const runs = await doctor()
      const named = `signalbox: Runs ${await realpath(join(folder, 'signalbox.config.mjs'))} (`
      expect(runs.stderr.startsWith(named)).toBe(true)
      expect(runs.stderr.split('\n')[1]).toBe('it runs')
      expect(runs.stdout).toContain('there is no setting gatways')
      const skipped = await doctor('--no-config')
      expect(skipped.stderr).toBe('')
      expect(skipped.stdout).not.toContain('gatways')
    })

    it.each(NODES)('publishes a board on $name', async ({ node }) => {
      const version = await run(node, [script(), '--version'], { env: MACHINE })
      expect(version.stdout).toBe(`${manifest.version}\n`)
      const edge = await serveEdge()
      const SIGNALBOX_TOKEN = await token({ repos: ['packed'] })
      const args = ['sync', board(), '--edge', edge.url, '--repo', 'packed', '--cache', 'cache']
      const env = { ...MACHINE, SIGNALBOX_TOKEN }
      await run(node, [script(), ...args], { cwd: installed().folder, env })
      const headers = { Authorization: `Bearer ${SIGNALBOX_TOKEN}` }
      const answer = await fetch(`${edge.url}/api/tasks`, { headers })
      expect(await answer.json()).toMatchObject({ tasks: [{ id: 'T-1', title: 'One' }] })
      await edge.close()
    })

    it.each([
      ...NODES.map(({ name, node }) => ({ name, command: () => [node, script()] })),
      {
        name: 'Deno',
        command: () => [denoBinary(), 'run', '-A', '--node-modules-dir=manual', 'npm:signalbox'],
      },
    ])(
      'runs everything for a board on $name: the page answers, and the link signs in',
      async ({ command }) => {
        const [binary = ''] = command()
        const data = join(installed().folder, `data-${basename(binary)}`)
        // A machine without a network has nothing to share with.
        const share = lanAddresses().length > 0 ? '--share' : '--share=lines'
        const options = ['board', '--port', '0', '--data', data, share]
        const place = { cwd: installed().folder, env: MACHINE }
        const program = startProgram([...command(), 'dev', ...options], place)
        try {
          const isShared = () =>
            expect(program.output).toMatch(/compare its SHA-256|tailscale serve/)
          await vi.waitFor(isShared, PATIENT)
          const [, url, code] = /^Open {2}(\S+)\/#\/sign-in\/(\S+)$/m.exec(program.output) ?? []
          expect(await (await fetch(`${url}/`)).text()).toContain('/console/main-')
          const session = await fetch(`${url}/api/session`, {
            method: 'POST',
            headers: { Origin: url ?? '', 'Content-Type': 'application/json' },
            body: JSON.stringify({ code }),
          })
          expect(session.status).toBe(201)
        } finally {
          await program.stop()
        }
        expect(await program.ended).toEqual({ code: 0, signal: null })
      },
    )
  })
}

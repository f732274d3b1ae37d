// A start on a disk that is full, and on a database that the disk has damaged. The disk is a real
// one, of so many KiB, in a name space of its own.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { openSqlite } from '../../worker/shared/sqlite-libsql.ts'
import { SECRET } from '../support/edge.ts'
import { startProgram } from '../support/program.ts'
import { programEnv } from '../support/run-home.ts'
import { tempFolder } from '../support/temp-folder.ts'

const OWN = [process.execPath, resolve('cli/bin.js')]

let dir: string
beforeEach(() => {
  dir = tempFolder()
})

const serve = (data: string) => [...OWN, 'serve', '--data', data, '--port', '0']

async function ends(command: readonly string[]) {
  const env = { ...programEnv(dir), AUTH_SECRETS: SECRET, HOME: dir }
  const program = startProgram(command, { cwd: dir, env })
  const { code } = await program.ended
  return { code, output: program.output }
}

const NAMESPACE = ['unshare', '--user', '--map-root-user', '--mount']
const canMount =
  spawnSync(NAMESPACE[0] ?? '', [...NAMESPACE.slice(1), 'mount', '-t', 'tmpfs', 'none', '/mnt'])
    .status === 0
if (!canMount) console.warn('No disk can be mounted here: none is full.')

describe.skipIf(!canMount)('a disk that is full', () => {
  const startOn = (kib: number, start = serve) => {
    const disk = join(dir, 'disk')
    const mount = `mount -t tmpfs -o size=${kib}k,mode=700 none "$0" && exec "$@"`
    return ends([...NAMESPACE, 'sh', '-c', mount, disk, ...start(join(disk, 'data'))])
  }
  beforeEach(() => mkdir(join(dir, 'disk')))

  // The folder, the database, its tables and the page need ever more room.
  it.each([4, 12, 200, 700])(
    'of %i KiB ends a start with exit code 1, in a sentence',
    async (kib) => {
      const { code, output } = await startOn(kib)
      expect([code, output]).toEqual([
        1,
        expect.stringMatching(/^signalbox: .*(full|ENOSPC|I\/O).*$/m),
      ])
      expect(output).not.toMatch(/^ +at /m)
    },
  )

  it('ends npm start with exit code 1, whose database server tells only its own log', async () => {
    const start = (data: string) => [...OWN, 'start', '--data', data, '--port', '0']
    const { code, output } = await startOn(12, start)
    expect([code, output]).toEqual([1, expect.stringMatching(/^signalbox: sqld .* is full\.$/m)])
  })
})

describe('a damaged database', () => {
  const damaged = () => join(dir, 'data/node/payments.db')
  beforeEach(() => mkdir(join(dir, 'data/node'), { recursive: true, mode: 0o700 }))

  it.each(['has other bytes', 'has lost its tables'])(
    'that %s ends a start with a sentence that names the file and restore, and stays as it is',
    async (what) => {
      const old = openSqlite(damaged())
      old.exec(readFileSync('schema.sql', 'utf8'))
      old.close()
      const bytes = await readFile(damaged())
      await writeFile(damaged(), bytes.fill(0xff, what === 'has other bytes' ? 0 : 100))
      const { code, output } = await ends(serve(join(dir, 'data')))
      const restore = `signalbox restore FILE --data ${join(dir, 'data')}`
      expect([code, output]).toEqual([2, expect.stringContaining(restore)])
      expect(output).toContain(`${damaged()}, is damaged`)
      expect(output).not.toContain('LIBSQL_URL')
      expect(await readFile(damaged())).toEqual(bytes)
    },
  )
})

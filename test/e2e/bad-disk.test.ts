// A start on a disk that is full, and on a database that the disk has damaged. The disk is a real
// one, of so many KiB, in a name space of its own.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { openSqlite } from '../../worker/shared/sqlite-libsql.ts'
import { SECRET } from '../support/edge.ts'
import { startProgram } from '../support/program.ts'
import { programEnv } from '../support/run-home.ts'
import { tempFolder } from '../support/temp-folder.ts'

let dir: string
beforeEach(() => {
  dir = tempFolder()
})

const serve = (data: string) => [
  process.execPath,
  resolve('cli/bin.js'),
  'serve',
  '--data',
  data,
  '--port',
  '0',
]

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
  /** `before`: what a shell does on the disk, whose folder is $0. */
  const startOn = (kib: number, before = ':') => {
    const disk = join(dir, 'disk')
    const mount = `mount -t tmpfs -o size=${kib}k,mode=700 none "$0" && ${before} && exec "$@"`
    return ends([...NAMESPACE, 'sh', '-c', mount, disk, ...serve(join(disk, 'data'))])
  }
  beforeEach(() => mkdir(join(dir, 'disk')))

  it.each([
    ['the data folder', 4, 'The disk of the data folder'],
    ['the file of the database', 12, 'payments.db cannot be opened'],
    ['its tables', 200, 'The database refused its schema'],
    ['the page', 700, 'The console cannot be built'],
  ])('ends a start with exit code 1 that makes %s', async (_, kib, why) => {
    const { code, output } = await startOn(kib)
    expect([code, output]).toEqual([1, expect.stringContaining(why)])
    expect(output).toMatch(/full|ENOSPC/)
    expect(output).not.toMatch(/^ +at /m)
  })

  it('ends a migration with exit code 1, and the next one goes on from there', async () => {
    await mkdir(join(dir, 'old'))
    const old = openSqlite(join(dir, 'old/payments.db'))
    old.exec(readFileSync('test/fixtures/schema-2.sql', 'utf8'))
    old.close()
    const folder = '"$0/data/node"'
    const copy = `install -d -m 700 "$0/data" ${folder} && cp "${dir}/old/payments.db" ${folder}`
    const { size } = await stat(join(dir, 'old/payments.db'))
    const { code, output } = await startOn(Math.ceil(size / 1_024) + 150, copy)
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(/step \d+ of the migration to schema \d failed: .*SQLITE_FULL/),
    ])
    expect(output).toContain('the next run goes on from there')
    expect(output).toMatch(/is brought to schema \d, in \d+ steps\./)
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

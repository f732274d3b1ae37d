import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { ProcessRepositories } from '../../../worker/board/repository/repositories-process.ts'
import { EMPTY_HASH } from '../../../worker/board/wire.ts'
import { moveAside } from '../../../worker/shared/damaged-file-node.ts'
import { openDescriptors } from '../../../worker/shared/descriptors-node.ts'
import { openSql } from '../../../worker/shared/sql-node.ts'
import { sqlPool } from '../../../worker/shared/sql-pool.ts'
import { taskRecord } from '../../support/edge.ts'
import { processHost } from '../../support/process-host.ts'
import { tempFolder } from '../../support/temp-folder.ts'

let dir: string
beforeAll(() => {
  dir = tempFolder()
})

describe('a pool of databases', () => {
  /** The names of those that are open, in the order of their opening. */
  const poolOf = (max: number) => {
    const opened: string[] = []
    const pool = sqlPool(max, (file) => {
      const sql = openSql(join(dir, file))
      opened.push(file)
      const close = () => {
        opened.splice(opened.indexOf(file), 1)
        sql.close()
      }
      return { ...sql, close }
    })
    return { pool, opened }
  }

  it('closes one that is damaged, after the whole of a transaction, and says so once', () => {
    const pool = sqlPool(2, (file) => openSql(join(dir, file)))
    const made = pool.sql('damaged')
    made.all('CREATE TABLE one (text TEXT)')
    for (let n = 0; n < 200; n++) made.all('INSERT INTO one VALUES (?)', 'x'.repeat(200))
    pool.close()
    const bytes = readFileSync(join(dir, 'damaged'))
    writeFileSync(join(dir, 'damaged'), bytes.fill(0xff, 4_096))
    let damaged = 0
    const sql = pool.sql('damaged', () => {
      damaged++
      moveAside(join(dir, 'damaged'))
    })
    const read = () => sql.transaction(() => sql.all('SELECT sum(length(text)) FROM one'))
    expect(read).toThrow('database disk image is malformed')
    expect(damaged).toBe(1)
    expect(read).toThrow('no such table')
    expect(readFileSync(join(dir, 'damaged.damaged')).at(5_000)).toBe(0xff)
    expect(damaged).toBe(1)
    pool.close()
  })

  it('closes the one that was unused for longest, and opens it again when it is used', () => {
    const { pool, opened } = poolOf(2)
    const [a, b, c] = ['a', 'b', 'c'].map((file) => pool.sql(file))
    expect(opened).toEqual([])
    for (const sql of [a, b]) sql?.all('CREATE TABLE one (n INTEGER)')
    a?.transaction(() => a.all('INSERT INTO one VALUES (1)'))
    c?.all('SELECT 1')
    expect(opened).toEqual(['a', 'c'])
    b?.transaction(() => b.all('INSERT INTO one VALUES (2)'))
    expect(opened).toEqual(['c', 'b'])
    expect(a?.all('SELECT n FROM one')).toEqual([{ n: 1 }])
    expect(b?.all('SELECT n FROM one')).toEqual([{ n: 2 }])
    pool.close()
    expect(opened).toEqual([])
  })

  it.runIf(process.platform === 'linux')('holds no descriptor of a database that it closed', () => {
    const { pool } = poolOf(2)
    const before = openDescriptors() ?? 0
    for (let n = 0; n < 20; n++) {
      const sql = pool.sql(`descriptors-${n}`)
      sql.transaction(() => sql.all('CREATE TABLE one (n INTEGER)'))
      sql.all('SELECT n FROM one')
    }
    expect((openDescriptors() ?? 0) - before).toBeLessThanOrEqual(6)
    pool.close()
    expect(openDescriptors()).toBe(before)
  })

  it('ends a list that was begun before its database was closed', async () => {
    const { pool, opened } = poolOf(1)
    const files = new Set<string>()
    const host = processHost({
      openSql(path, make) {
        if (make) files.add(path)
        return files.has(path) ? pool.sql(`list-${path}`) : undefined
      },
      maxIdle: 1,
    })
    const repositories = new ProcessRepositories(host)
    const publish = async (path: string, tasks: number) => {
      const repository = repositories.open(path)
      const store = { state: 'present', version: '1' } as const
      const synced = await repository.sync({ step: 'root', run: null, root: EMPTY_HASH, store })
      if (!synced.ok || synced.answer.step !== 'root') throw new Error('the sync was refused')
      const { epoch, run } = synced.answer
      const upserts = Array.from({ length: tasks }, (_, n) => taskRecord(`A-${n}`))
      const changed = await repository.changes({ epoch, run, batch: 1, upserts, deletes: [] })
      expect(changed.ok).toBe(true)
      return repository
    }
    const first = await publish('first', 3_000)
    const answer = await first.read({ kind: 'tasks', filter: {} }, undefined)
    if (answer.state !== 'found') throw new Error(answer.state)
    const reader = answer.body.getReader()
    const decoder = new TextDecoder()
    const begun = await reader.read()
    let text = decoder.decode(begun.value)
    await publish('second', 1)
    expect(opened).toEqual(['list-second'])
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += decoder.decode(part.value)
    }
    expect((JSON.parse(text) as { tasks: unknown[] }).tasks).toHaveLength(3_000)
    pool.close()
  })
})

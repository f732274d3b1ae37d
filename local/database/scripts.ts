// schema.sql and the files of migrations/, as statements. Pure except for reading them.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface Scripts {
  /** The number that schema.sql makes, and the last migration. */
  version: number
  /** The statements of schema.sql. */
  schema: readonly string[]
  /** From schema 2 on, without a gap. */
  migrations: readonly Migration[]
}

export interface Migration {
  to: number
  steps: readonly Step[]
}

/** One transaction; with `parts` one for so many rows of a table, in the order of their ids. */
export interface Step {
  statements: readonly string[]
  parts?: { table: string; rows: number }
}

/** `home`: the folder that holds schema.sql and migrations/. */
export async function readScripts(home: string): Promise<Scripts> {
  const text = await readFile(join(home, 'schema.sql'), 'utf8')
  const names = await readdir(join(home, 'migrations'))
  const numbers = names
    .filter((name) => /^\d+\.sql$/.test(name))
    .map((name) => Number.parseInt(name, 10))
  const migrations = await Promise.all(
    Array.from({ length: numbers.length }, async (_, at) => {
      const to = at + 2
      return { to, steps: stepsOf(await readFile(join(home, `migrations/${to}.sql`), 'utf8')) }
    }),
  )
  return { version: migrations.length + 1, schema: statementsOf(text), migrations }
}

const MARKER = /^-- step: (?:once|for every (\d+) rows of (\w+))$/

/** A script without a marker is one step. */
export function stepsOf(script: string): Step[] {
  const [first = '', ...marked] = `\n${script}`.split(/\n(?=-- step\b)/)
  const sections = statementsOf(first).length > 0 ? [`-- step: once\n${first}`, ...marked] : marked
  return sections.map((section) => {
    const [line = '', ...rest] = section.split('\n')
    const found = MARKER.exec(line)
    if (!found) throw new Error(`not a step of a migration: ${line}`)
    const [, rows, table] = found
    const statements = statementsOf(rest.join('\n'))
    return table === undefined
      ? { statements }
      : { statements, parts: { table, rows: Number(rows) } }
  })
}

/** Statements end at a line's end, comments have lines of their own: so these files are written. */
export function statementsOf(script: string): string[] {
  const statements = script
    .replaceAll(/^[ \t]*--.*$/gm, '')
    .split(/;[ \t]*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
  const two = statements.find((statement) => statement.includes(';'))
  // The server would run the first of them and forget the others without a word.
  if (two) throw new Error(`two statements in one: ${two}`)
  return statements
}

// schema.sql and the files of migrations/, as statements.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from '../root.ts'

export interface Scripts {
  /** The number that schema.sql makes, and the last migration. */
  version: number
  /** The statements of schema.sql. */
  schema: readonly string[]
  /** Without a gap, up to `version`. */
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

export async function readScripts(): Promise<Scripts> {
  const text = await readFile(join(ROOT, 'schema.sql'), 'utf8')
  const names = await readdir(join(ROOT, 'migrations'))
  const migrations = await Promise.all(
    names
      .filter((name) => /^\d+\.sql$/.test(name))
      .map(async (name) => ({
        to: Number.parseInt(name, 10),
        steps: stepsOf(await readFile(join(ROOT, 'migrations', name), 'utf8')),
      })),
  )
  const version = Math.max(...migrations.map(({ to }) => to))
  return { version, schema: statementsOf(text), migrations }
}

const MARKER = /^-- step: (?:once|for every (\d+) rows of (\w+))$/

/** A script without a marker is one step. @forTests Scripts that no migration has yet. */
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

/**
 * Statements end at a line's end, comments have lines of their own, the statement within a trigger
 * ends before its END: so these files are written.
 * @forTests Makes databases of earlier schemas.
 */
export function statementsOf(script: string): string[] {
  const statements = script
    .replaceAll(/^[ \t]*--.*$/gm, '')
    .split(/;[ \t]*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
  const two = statements.find((statement) => statement.replace(/; END$/, '').includes(';'))
  // The server would run the first of them and forget the others without a word.
  if (two) throw new Error(`two statements in one: ${two}`)
  return statements
}

// A row of the history as one line, for a model and for a terminal. Pure.

import { printable } from '../../worker/shared/printable.ts'
import type { ActivityRow } from '../api/types.ts'

/** What stands out comes first: a reader of a long list must not miss a mark. */
export function activityText(row: ActivityRow): string {
  const { at, kind, task, title, actor, tree, changes, summary, marks = [] } = row
  // The kind says these two already.
  const { closed: _, health: __, ...shown } = changes ?? {}
  const fields = Object.entries(shown).map(
    ([name, [from, to]]) => `${name} ${valueText(from)} → ${valueText(to)}`,
  )
  const parts = [
    at,
    marks.map((mark) => `[${mark}]`).join(' '),
    kind,
    task,
    title,
    fields.join(', '),
    actor === undefined ? undefined : `by ${actor}`,
    tree === undefined ? undefined : `in ${tree}`,
    row.by === 'switch' ? 'by a switch of the main tree' : undefined,
    summary,
  ]
  const given = parts.filter((part) => part !== undefined && part !== '')
  return given.map((part) => printable(String(part))).join('  ')
}

const valueText = (value: unknown): string =>
  value === null || value === undefined ? '–' : [value].flat().join(', ') || '–'

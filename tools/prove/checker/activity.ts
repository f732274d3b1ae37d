// What the history of a board promises: (k) no change of a status that a client saw is missing in
// it, and what each row says of before is what the row before had left.

import { type Finding, finding, type History, type Line } from './history.ts'

export function checkActivity({ clients, of }: History): Finding[] {
  const changed = of('activity').filter(({ row }) => row.changes?.status && row.tree === undefined)
  const rows = Map.groupBy(changed, ({ row }) => row.task ?? '')
  return [
    ...[...rows.values()].flatMap(gapsIn),
    ...clients.flatMap((client) => {
      const reads = of('read').filter((it) => it.client === client)
      const seen = reads.flatMap(({ line, statuses = {} }) =>
        Object.entries(statuses).map(([task, status]) => ({ line, task, status })),
      )
      return [...Map.groupBy(seen, ({ task }) => task)].flatMap(([task, own]) =>
        unknownTo(rows.get(task) ?? [], own).map(({ line, status }) =>
          finding(
            'k',
            line,
            `${client} saw ${task} as ${status}, and the history has no such change`,
          ),
        ),
      )
    }),
  ]
}

const statusOf = ({ row }: Line<'activity'>): readonly (string | null)[] =>
  row.changes?.status ?? []

/** Rows that do not begin where the one before ended. */
const gapsIn = (rows: Line<'activity'>[]): Finding[] =>
  rows.flatMap((row, at) => {
    const before = rows[at - 1]
    const [from] = statusOf(row)
    if (!before || from === statusOf(before)[1]) return []
    return [finding('k', row.line, `${row.row.task} was not ${from} in the history before`)]
  })

/** What was seen has to come in the order of the rows; some of them nobody saw. */
function unknownTo<Seen extends { status: string | null }>(
  rows: Line<'activity'>[],
  seen: readonly Seen[],
): Seen[] {
  const first = rows[0] ? (statusOf(rows[0])[0] ?? null) : (seen[0]?.status ?? null)
  const left = [first, ...rows.map((row) => statusOf(row)[1] ?? null)]
  return seen.filter(({ status }) => {
    const at = left.indexOf(status)
    if (at > 0) left.splice(0, at)
    return at === -1
  })
}

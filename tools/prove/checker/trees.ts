// What worktrees promise: (j) the row of a task shows the worktree that has begun or finished it,
// also while that is moved, copied or gone for a while, and nobody is given the task.

import { type Finding, finding, type History, type Line } from './history.ts'

/** A sidecar that was started so long ago, in ms, has not published what it found yet. */
const PUBLISHED_MS = 60_000

export function checkTrees({ lines, of }: History): Finding[] {
  const marks = new Map<string, Line<'mark'>>()
  /** By task: when a sidecar must have read what came back. */
  const readAt = new Map<string, number>()
  const restarts = of('fault').filter(({ name }) => name === 'kill-sidecar')
  /** What was in a folder that is gone is unknown to a sidecar that is started meanwhile. */
  const isUnknown = (mark: Line<'mark'>, line: number) =>
    mark.isAway && restarts.some((it) => it.line < line && it.t > mark.t - PUBLISHED_MS)
  const found = lines.flatMap((line): Finding[] => {
    if (line.kind !== 'mark' && line.kind !== 'row' && line.kind !== 'claim') return []
    const { task } = line
    const wrong = (what: string) => [finding('j', line.line, what)]
    if (line.kind === 'mark') {
      const before = marks.get(task)
      if (before && isUnknown(before, line.line)) readAt.set(task, line.t + PUBLISHED_MS)
      if (line.status === null || line.isSeen === false) marks.delete(task)
      else marks.set(task, line)
      const isMissing = line.isSeen === false
      return isMissing ? wrong(`${task} is not shown as ${line.status} in ${line.tree}`) : []
    }
    const mark = marks.get(task)
    const isRead = line.t >= (readAt.get(task) ?? 0)
    if (!mark || !isRead || isUnknown(mark, line.line)) return []
    const what = `${mark.status} in ${mark.tree}`
    if (line.kind === 'claim') return wrong(`${line.claimer} was given ${task}, ${what}`)
    const [shown, ...others] = Object.entries(line.trees)
    const isRight = String(shown) === `${mark.tree},${mark.status}` && others.length === 0
    return isRight ? [] : wrong(`${task} is ${what}, and shown as ${JSON.stringify(line.trees)}`)
  })
  const never = of('offered').filter(({ isGiven }) => !isGiven)
  return [...found, ...never.map(({ line, task }) => finding('j', line, `nobody got ${task}`))]
}

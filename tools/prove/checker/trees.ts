// What worktrees promise: (j) the row of a task shows the worktree that has begun or finished it,
// also while that is moved, copied or gone for a while, and nobody is given the task.

import { type Finding, finding, findings, type History, type Line } from './history.ts'

export function checkTrees({ lines, of }: History): Finding[] {
  const marks = new Map<string, Line<'mark'>>()
  const found = lines.flatMap((line): Finding[] => {
    if (line.kind !== 'mark' && line.kind !== 'row' && line.kind !== 'claim') return []
    const { task } = line
    const wrong = (what: string) => [finding('j', line.line, what)]
    if (line.kind === 'mark') {
      if (line.status === null || line.isSeen === false) marks.delete(task)
      else marks.set(task, line)
      const isMissing = line.isSeen === false
      return isMissing ? wrong(`${task} is not shown as ${line.status} in ${line.tree}`) : []
    }
    const mark = marks.get(task)
    if (!mark) return []
    const what = `${mark.status} in ${mark.tree}`
    if (line.kind === 'claim') return wrong(`${line.claimer} was given ${task}, ${what}`)
    const [shown, ...others] = Object.entries(line.trees)
    const isRight = String(shown) === `${mark.tree},${mark.status}` && others.length === 0
    return isRight ? [] : wrong(`${task} is ${what}, and shown as ${JSON.stringify(line.trees)}`)
  })
  const never = of('offered').filter(({ isGiven }) => !isGiven)
  return [...found, ...findings('j', never, ({ task }) => `nobody got ${task}`)]
}

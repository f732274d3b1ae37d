// What agents wrote of their work, a line each in the order in which it happened, and what is wrong
// with it. Pure.
//
//   asks AGENT: for a task, of which it then begins one
//   begun TASK AGENT, once it is marked; done TASK AGENT; left TASK AGENT CODE (of `check`)
//   twice TASK AGENT: it was closed already
//   killed AGENT, stopped AGENT, woken AGENT: what was done to it

export interface Work {
  /** Tasks that were done. */
  done: number
  /** How often a task was begun. */
  begun: number
  /** How often an agent was refused before it closed a task. */
  refused: number
  /** How many tasks others began, at most, while one that asks had none. */
  overtaken: number
  /** Agents that have begun a task, and are at it. */
  working: string[]
  /** Sentences. */
  findings: string[]
}

export function readWork(text: string): Work {
  const holders = new Map<string, string>()
  const doneBy = new Map<string, string>()
  const killed = new Set<string>()
  const stopped = new Set<string>()
  const found: Work = { done: 0, begun: 0, refused: 0, overtaken: 0, working: [], findings: [] }
  const asking = new Map<string, number>()
  const finding = (sentence: string) => found.findings.push(sentence)
  for (const line of text.split('\n').filter(Boolean)) {
    const [what = '', ...of] = line.split(' ')
    if (['killed', 'stopped', 'woken'].includes(what)) {
      const [agent = ''] = of
      if (what === 'killed') killed.add(agent)
      else if (what === 'stopped') stopped.add(agent)
      else stopped.delete(agent)
      continue
    }
    if (what === 'asks') {
      const [agent = ''] = of
      asking.set(agent, asking.get(agent) ?? 0)
      continue
    }
    const [task = '', agent = '', code] = of
    // It may write a line between the mark and its end.
    if (killed.has(agent)) continue
    const holder = holders.get(task)
    if (what === 'begun') {
      found.begun++
      asking.delete(agent)
      for (const [other, times] of asking) {
        asking.set(other, times + 1)
        found.overtaken = Math.max(found.overtaken, times + 1)
      }
      const isHeld = holder !== undefined && holder !== agent
      if (isHeld && !killed.has(holder) && !stopped.has(holder)) {
        finding(`${agent} began ${task} while ${holder} worked on it`)
      }
      holders.set(task, agent)
    } else if (what === 'left') {
      if (code === '4') found.refused++
      if (holder === agent) holders.delete(task)
    } else if (what === 'done') {
      if (holder !== agent) finding(`${agent} closed ${task}, which was not its own any more`)
      if (doneBy.has(task)) finding(`${task} was done by ${doneBy.get(task)} and by ${agent}`)
      else found.done++
      doneBy.set(task, agent)
      holders.delete(task)
    } else if (what === 'twice') finding(`${agent} was given ${task}, which was closed`)
  }
  found.working = [...holders.values()].filter((agent) => !killed.has(agent))
  return found
}

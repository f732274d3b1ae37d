// How people are shown who works, and where: an agent, its worktree, a switch of the main tree.
// Pure.

/** `feat-x (agent/dim)`. Undefined: neither is known. */
export function placeText(tree: string | undefined, branch: string | undefined) {
  if (tree === undefined) return branch
  return branch === undefined || branch === tree ? tree : `${tree} (${branch})`
}

/** A row of the history: of each field what it was, and what it is. */
interface Switched {
  changes?: Readonly<Record<string, readonly Value[]>>
}

type Value = string | number | boolean | readonly string[] | null

/** Where a switch of the main tree began, and ended: the branch, else the commit. */
export function switchOf({ changes = {} }: Switched): string[] {
  const { branch = [], head = [] } = changes
  const place = (at: number) => branch[at] ?? head[at]?.toString().slice(0, 8) ?? 'no branch'
  return [0, 1].map((at) => String(place(at)))
}

/** Without the id of a process, and without the worktree that stands before it. */
export function agentName(actor: string, tree?: string): string {
  const name = actor.replace(PROCESS, '$1')
  return tree !== undefined && name.endsWith(`/${tree}`) ? name.slice(0, -tree.length - 1) : name
}

/** As agents are called that nobody named: `root@vm:27080`, or `root@vm:27080/feat-x`. */
const PROCESS = /^([^@\s]+@[^:\s]+):\d+(?=\/|$)/

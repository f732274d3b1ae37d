// The layouts of boards: what counts of them wherever a board is shown or claimed. How their files
// are read is in sidecar/layouts/.

interface LayoutTraits {
  /** What its makers call the tool. */
  tool: string
  /** Its tasks stand in lists that are tasks, too: their order is that of the work. */
  hasLists?: true
  /** Its tasks with parts are closed by whoever closes the last one. */
  closesWholes?: true
}

/** In the order in which a sidecar tries them. */
const LAYOUTS = {
  cairn: { tool: 'cairn' },
  'backlog-md': { tool: 'Backlog.md' },
  'task-master': { tool: 'Task Master', closesWholes: true },
  openspec: { tool: 'OpenSpec', hasLists: true },
  kiro: { tool: 'Kiro', hasLists: true, closesWholes: true },
  'spec-kit': { tool: 'spec-kit', hasLists: true },
  bmad: { tool: 'BMAD', hasLists: true },
} as const satisfies Record<string, LayoutTraits>

export type LayoutName = keyof typeof LAYOUTS
export const LAYOUT_NAMES = Object.keys(LAYOUTS) as LayoutName[]

/** Empty for one that this version does not know. */
export const traitsOf = (layout: LayoutName | undefined): Partial<LayoutTraits> => {
  const all: Readonly<Record<string, LayoutTraits>> = LAYOUTS
  return all[layout ?? ''] ?? {}
}

export const toolOf = (layout: LayoutName): string => traitsOf(layout).tool ?? layout

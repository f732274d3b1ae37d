/** The layouts of boards, in the order in which a sidecar tries them. */
export const LAYOUT_NAMES = [
  'cairn',
  'backlog-md',
  'task-master',
  'openspec',
  'kiro',
  'spec-kit',
  'bmad',
] as const

// What a lead may set for a board: whether tasks are handed out, and to how many at once; what is
// refused for it, and what people read of it. Pure. How it is checked is in
// worker/board/claims/settings-schema.ts.

/** Valid claims of a board at once, and the most that a lead can allow. */
export const MAX_VALID = 1_000

export interface BoardSettings {
  /** Nothing is handed out. What is held goes on. */
  paused: boolean
  /** One agent per parent. */
  perParent: boolean
  /** So many valid claims at most; null: as many as are asked for. */
  atMost: number | null
}

/** Until somebody sets anything. */
export const DEFAULT_SETTINGS: BoardSettings = { paused: false, perParent: false, atMost: null }

/** What a lead does not allow now, and may later. */
export type LimitRefusal =
  | { reason: 'board_paused' }
  /** `task`: what `by` holds of it. */
  | { reason: 'parent_taken'; parent: string; task: string; by: string }
  | { reason: 'board_full'; atMost: number }

type Limit = LimitRefusal['reason']

/** With the status of the answer. */
export const LIMIT_STATUS = {
  board_paused: 409,
  parent_taken: 409,
  board_full: 409,
} as const satisfies Record<Limit, number>

export const LIMITED = Object.keys(LIMIT_STATUS) as Limit[]

const WHY: { [Of in Limit]: (refusal: Extract<LimitRefusal, { reason: Of }>) => string } = {
  board_paused: () => 'The board is paused: nothing is handed out.',
  parent_taken: ({ parent }) =>
    `Somebody else works on a part of ${parent}, and one agent may at a time.`,
  board_full: ({ atMost }) => `No more than ${atMost} may work on this board at once.`,
}

export const isLimit = (refusal: { reason: string }): refusal is LimitRefusal =>
  refusal.reason in WHY

/** In one sentence. */
export const whyLimited = (refusal: LimitRefusal): string =>
  (WHY[refusal.reason] as (refusal: LimitRefusal) => string)(refusal)

export const PAUSED = 'Paused: no task is handed out'

/** What is set, as the page shows it. */
export const settingTexts = ({ paused, perParent, atMost }: BoardSettings): readonly string[] => [
  ...(paused ? [PAUSED] : []),
  ...(perParent ? ['One agent per parent'] : []),
  ...(atMost === null ? [] : [`At most ${claims(atMost)}`]),
]

const claims = (n: number) => (n === 1 ? '1 claim' : `${n.toLocaleString('en')} claims`)

// Which rules of notices a board has once a sidecar has published some. What is as before keeps its
// keys, and what went lately gets them again: a mistake in the file must not repeat each notice.
// Pure, but for the keys of new targets.

import { isRecent } from '../../shared/clock.ts'
import type { BoardRules, SealedRule } from './notice-calls.ts'
import type { NoticeState, StoredRule, Target } from './notice-store-sqlite.ts'
import { FLAPPING_MS } from './notice-turn.ts'

/** As many as rules may have: a sidecar that publishes others each second must not fill a row. */
const MAX_GONE = 64

/** `left`: the rules that went. Undefined: nothing changes. */
export function rulesAfter(
  before: NoticeState,
  { board, rules: published }: BoardRules,
  now: number,
): { state: NoticeState; left: StoredRule[] } | undefined {
  const lately = (before.gone ?? []).filter(({ at }) => isRecent(at, FLAPPING_MS, now))
  const placed = withTargets(published, [...before.targets, ...lately])
  const seen = new Set(before.rules.flatMap((rule) => (rule.isSeen ? rule.key : [])))
  const rules = placed.rules.map((rule) =>
    seen.has(rule.key) ? { ...rule, isSeen: true as const } : rule,
  )
  const { targets } = placed
  const isSame = (one: object, other: object) => JSON.stringify(one) === JSON.stringify(other)
  if (isSame(rules, before.rules) && isSame(targets, before.targets)) return undefined
  const gone = [...before.targets.map((target) => ({ ...target, at: now })), ...lately]
    .filter(({ key }) => !targets.some((target) => target.key === key))
    .slice(0, MAX_GONE)
  const isDecided = rules.length > 0 && { decideAt: now }
  return {
    state: { ...before, rules, targets, gone, board, ...isDecided },
    left: before.rules.filter(({ key }) => !rules.some((rule) => rule.key === key)),
  }
}

/** Each rule and each target once. `before`: targets that have keys. */
function withTargets(
  published: readonly SealedRule[],
  before: readonly Target[],
): Pick<NoticeState, 'rules' | 'targets'> {
  const targets = new Map<string, Target>()
  const rules = new Map<string, StoredRule>()
  for (const { on, minutes, formerly = [], ...to } of published) {
    const texts = [to.sealed, ...formerly]
    const isSame = (it: Target) =>
      it.to === to.to && it.host === to.host && texts.includes(it.sealed)
    const known = [...targets.values()].find(isSame) ?? before.find(isSame)
    const target = known?.key ?? crypto.randomUUID()
    targets.set(target, { ...to, key: target })
    const key = [on, minutes, target].join(' ')
    rules.set(key, { key, on, ...(minutes !== undefined && { minutes }), target })
  }
  return { rules: [...rules.values()], targets: [...targets.values()] }
}

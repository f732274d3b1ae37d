// Which claim a command is about, and what an answer about it means: without an edge.

import { describe, expect, it } from 'vitest'
import { claimsAt } from '../../cli/claim/claims-at-edge.ts'
import type { KeptClaim } from '../../cli/claim/kept-claims.ts'
import { ownAmong } from '../../cli/claim/own-claim.ts'
import { standingOf } from '../../cli/claim/standing.ts'
import { redirecting } from '../support/redirecting.ts'

const agent = { pid: 7, startedAt: '1', boot: 'b', namespace: 'n' }
const at = '/srv/lamp/.signalbox'
const edge = { url: 'http://127.0.0.1:1', path: 'r', token: async () => '', at }
const place = { edge }
const claimant = {
  place,
  board: 'r',
  actor: 'ada@home:7/feat',
  isNamed: false,
  agent,
  tree: 'feat',
  branch: 'agent/feat',
  gitFolder: undefined,
  here: '/srv/lamp',
  data: undefined,
}
const kept = (actor: string, more: Partial<KeptClaim> = {}): KeptClaim => ({
  claim: actor,
  actor,
  board: 'r',
  at,
  task: 'A-1',
  generation: 1,
  ttlMs: 600_000,
  process: agent,
  ...more,
})
const found = (all: KeptClaim[], more: Partial<typeof claimant> = {}) =>
  ownAmong(all, { ...claimant, ...more })?.claim

describe('the claim of a command', () => {
  const [main, feat, other] = [kept('ada@home:7'), kept('ada@home:7/feat'), kept('ada@home:7/x')]

  it('is that of its process and worktree, where there is one', () => {
    expect(found([main, other, feat])).toBe(feat.claim)
  })

  it('is the only one of its process where its worktree has none', () => {
    expect(found([main])).toBe(main.claim)
    expect(found([other])).toBe(other.claim)
    expect(found([main, other])).toBeUndefined()
    const elsewhere = { ...agent, startedAt: '2' }
    expect(found([kept('ada@home:7', { process: elsewhere })])).toBeUndefined()
    const { process: _, ...ofFolder } = main
    expect(found([ofFolder])).toBeUndefined()
  })

  it('is no other than that of an actor who was named', () => {
    const named = { actor: 'bob', isNamed: true }
    expect(found([main], named)).toBeUndefined()
    expect(found([kept('bob', { tree: 'x' })], named)).toBe('bob')
  })

  it('is not of another board, of another Signalbox, or released already', () => {
    expect(found([kept(feat.actor, { board: 'q' })])).toBeUndefined()
    expect(found([kept(feat.actor, { at: 'https://elsewhere.example' })])).toBeUndefined()
    expect(found([kept(feat.actor, { release: { outcome: 'done' } })])).toBeUndefined()
  })

  it('is found by the folder, or by --data, where no Signalbox runs that knows its board', () => {
    const down = { place: undefined as unknown as typeof place, board: '/srv/lamp' }
    expect(found([feat], down)).toBe(feat.claim)
    expect(found([feat], { ...down, here: '/srv/lamp/packages/web' })).toBe(feat.claim)
    expect(found([feat], { ...down, here: '/srv/other' })).toBeUndefined()
    const data = { ...down, here: '/tmp', board: '/data' }
    const there = kept(feat.actor, { at: '/data' })
    expect(found([there], { ...data, data: '/data' as never })).toBe(there.claim)
    const ofUrl = kept(feat.actor, { at: 'https://elsewhere.example' })
    expect(found([ofUrl], down)).toBeUndefined()
    // Of several boards that of this name, if one has it.
    const web = kept(feat.actor, { claim: 'web', board: '/srv/lamp#kiro' })
    expect(found([feat, web], { ...down, board: '/srv/lamp#kiro' })).toBe('web')
  })
})

describe('a request about a claim', () => {
  it('is not sent on by a redirect, which would carry its secret along', async () => {
    const { url, asked } = await redirecting()
    const claims = claimsAt({ ...edge, url })
    await expect(claims.renew({ claim: 'secret' })).rejects.toThrow('The edge answered 307.')
    expect(asked).toEqual(['/api/claims/renew?path=r'])
  })
})

describe('an answer about a claim', () => {
  const at = '2026-01-01T00:00:00.000Z'
  it.each([
    [undefined, undefined, 'held', 0],
    ['deleted', true, 'away', 0],
    ['closed', true, 'done', 0],
    ['deleted', undefined, 'ended', 4],
    ['abandoned', undefined, 'ended', 4],
    ['closed', undefined, 'ended', 0],
    ['done', undefined, 'ended', 0],
  ] as const)('that ended as %s, returning: %s, is %s with exit code %i', (...row) => {
    const [outcome, returning, type, code] = row
    const answer = { ...(outcome && { end: { outcome, at } }), ...(returning && { returning }) }
    expect(standingOf(answer, 'held')).toEqual({ type, code })
  })
})

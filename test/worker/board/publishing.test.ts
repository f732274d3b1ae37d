import { expect, it } from 'vitest'
import { checkChanges, checkSync } from '../../../worker/board/publishing.ts'
import { EMPTY_HASH } from '../../../worker/board/wire.ts'

const change = (id: string) => {
  const task = { id, title: 't', status: 's', ready: true }
  return {
    epoch: 'e',
    run: 1,
    batch: 1,
    upserts: [{ kind: 'task', id, hash: EMPTY_HASH, file: EMPTY_HASH, task }],
    deletes: [],
  }
}

it('takes any id that can be stored, and none that is too long, empty or half of a character', () => {
  for (const id of [
    'A-1',
    'feat/x:5',
    '..',
    '__proto__',
    'a\0b',
    'a\nb',
    '😀',
    'x'.repeat(1_024),
  ]) {
    expect(checkChanges(change(id)), id).toMatchObject({ ok: true })
    expect(checkChanges({ ...change('A'), deletes: [`task:${id}`] }), id).toMatchObject({
      ok: true,
    })
  }
  for (const id of ['', '\ud800', 'x\udc00', 'x'.repeat(1_025)]) {
    expect(checkChanges(change(id)), id).toMatchObject({ ok: false })
    expect(checkChanges({ ...change('A'), deletes: [`task:${id}`] }), id).toMatchObject({
      ok: false,
    })
  }
})

it('takes the keys of a sync by the same rules, and no bucket beside the 256', () => {
  const entries = (bucket: string, key: string) => ({
    step: 'entries',
    run: 1,
    batch: 1,
    buckets: { [bucket]: { [key]: EMPTY_HASH } },
    more: false,
  })
  expect(checkSync(entries('255', 'task:tag:5'))).toMatchObject({
    ok: true,
    value: { buckets: { 255: { 'task:tag:5': EMPTY_HASH } } },
  })
  expect(checkSync(entries('256', 'task:A'))).toMatchObject({ ok: false })
  expect(checkSync(entries('0', 'task:\ud800'))).toMatchObject({ ok: false })
  expect(checkSync(entries('0', 'other:A'))).toMatchObject({ ok: false })
  const buckets = (count: number) => {
    const sums = new Array<string>(count).fill(EMPTY_HASH)
    return checkSync({ step: 'buckets', run: 1, buckets: sums }).ok
  }
  expect([255, 256, 257].map(buckets)).toEqual([false, true, false])
})

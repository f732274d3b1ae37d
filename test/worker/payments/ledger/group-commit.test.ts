import { beforeEach, describe, expect, it } from 'vitest'
import { FakeClock, settle } from '../../../../libraries/testing/fake-clock.ts'
import { LedgerUnavailable } from '../../../../worker/payments/ledger/failures.ts'
import { groupCommit } from '../../../../worker/payments/ledger/group-commit.ts'

const BUSY = new Error('busy')

let clock: FakeClock
/** The batches, as they were sent. */
let sent: string[][]
/** The results of the next batches, in order. All others go to `otherwise`. */
let script: ((units: readonly string[], signal: AbortSignal) => Promise<readonly string[]>)[]
let setbacks: number[]

beforeEach(() => {
  clock = new FakeClock()
  sent = []
  script = []
  setbacks = []
})

const answer = async (units: readonly string[]) => units.map((unit) => `${unit}!`)
const busy = () => Promise.reject(BUSY)
const silence = () => new Promise<never>(() => undefined)

/** A batch whose answer waits for `release`. */
function held() {
  let release: (() => void) | undefined
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  return {
    release: () => release?.(),
    send: async (units: readonly string[]) => {
      await gate
      return answer(units)
    },
  }
}

/** Rejects each batch that contains this unit. */
const failsOn = (poison: string) => async (units: readonly string[]) => {
  if (units.includes(poison)) throw new RangeError(poison)
  return answer(units)
}

const commit = (otherwise: (units: readonly string[]) => Promise<readonly string[]> = answer) =>
  groupCommit<string, string>({
    clock,
    send(units, signal) {
      sent.push([...units])
      return (script.shift() ?? otherwise)(units, signal)
    },
    isTransient: (error) => error === BUSY,
    retrying: ({ waitMs }) => setbacks.push(waitMs),
  })

const names = (count: number, prefix = 'u') =>
  Array.from({ length: count }, (_, n) => `${prefix}${n}`)

describe('group commit', () => {
  it('sends units that are submitted together as one batch, and answers each with its own result', async () => {
    const submit = commit()
    expect(await Promise.all(['a', 'b', 'c'].map(submit))).toEqual(['a!', 'b!', 'c!'])
    expect(sent).toEqual([['a', 'b', 'c']])
    expect(clock.pending).toBe(0)
  })

  it('gathers the next group while a batch is under way, and never sends two at once', async () => {
    const first = held()
    script = [first.send]
    const submit = commit()
    const answers = [submit('a')]
    await settle()
    answers.push(submit('b'), submit('c'))
    await settle()
    answers.push(submit('d'))
    await settle()
    expect(sent).toEqual([['a']])
    first.release()
    expect(await Promise.all(answers)).toEqual(['a!', 'b!', 'c!', 'd!'])
    expect(sent).toEqual([['a'], ['b', 'c', 'd']])
  })

  it('goes on at once after the time of day was set, back or forward', async () => {
    const submit = commit()
    for (const ms of [-3_600_000, 86_400_000, -31_536_000_000]) {
      await submit('before')
      clock.jump(ms)
      const answer = submit('after')
      await clock.advance(20)
      expect(await answer).toBe('after!')
    }
  })

  /** One group that takes `ms`, while `waiting` units wait for the next one. */
  const afterGroup = async ({ ms, waiting }: { ms: number; waiting: number }) => {
    const first = held()
    script = [first.send]
    const submit = commit()
    const answers = [submit('first')]
    await settle()
    answers.push(...names(waiting).map(submit))
    await clock.advance(ms)
    first.release()
    await answers[0]
    await settle()
    return { submit, answers }
  }

  it.each([
    { ms: 8, waiting: 2, waits: 4 },
    { ms: 8, waiting: 15, waits: 4 },
    { ms: 100, waiting: 2, waits: 20 },
    { ms: 100, waiting: 16, waits: 10 },
    { ms: 1_000, waiting: 16, waits: 20 },
  ])('gathers $waits ms more after a group of $ms ms, while $waiting wait', async (given) => {
    const { submit, answers } = await afterGroup(given)
    answers.push(submit('behind'))
    await clock.advance(given.waits - 1)
    expect(sent).toEqual([['first']])
    await clock.advance(1)
    await Promise.all(answers)
    expect(sent).toEqual([['first'], [...names(given.waiting), 'behind']])
  })

  it('sends at once behind a quick group for which many wait', async () => {
    const { answers } = await afterGroup({ ms: 59, waiting: 16 })
    await Promise.all(answers)
    expect(sent).toEqual([['first'], names(16)])
  })

  it('sends at once when the last group is long over', async () => {
    const { submit, answers } = await afterGroup({ ms: 1_000, waiting: 0 })
    await Promise.all(answers)
    await clock.advance(20)
    await submit('later')
    expect(sent).toEqual([['first'], ['later']])
  })

  it('sends at most 256 units in a batch, in the order of their submission', async () => {
    const units = names(600)
    const submit = commit()
    expect(await Promise.all(units.map(submit))).toEqual(units.map((unit) => `${unit}!`))
    expect(sent).toEqual([units.slice(0, 256), units.slice(256, 512), units.slice(512)])
  })

  it('halves a failing batch until the bad unit is alone, and rejects only that one', async () => {
    const submit = commit(failsOn('c'))
    const answers = await Promise.allSettled(['a', 'b', 'c', 'd'].map(submit))
    expect(sent).toEqual([['a', 'b', 'c', 'd'], ['a', 'b'], ['c', 'd'], ['c'], ['d']])
    expect(answers.map((each) => (each.status === 'fulfilled' ? each.value : 'no'))).toEqual([
      'a!',
      'b!',
      'no',
      'd!',
    ])
    expect(answers[2]).toMatchObject({ reason: new RangeError('c') })
    expect(setbacks).toEqual([])
  })

  it('finds one bad unit among 64 with 13 batches', async () => {
    const units = names(64)
    const submit = commit(failsOn('u41'))
    const answers = await Promise.allSettled(units.map(submit))
    expect(answers.filter(({ status }) => status === 'rejected')).toHaveLength(1)
    expect(answers[41]?.status).toBe('rejected')
    expect(sent).toHaveLength(13)
  })

  it('retries after a transient error and a jittered wait, together with newer units', async () => {
    script = [busy, busy]
    const submit = commit()
    const first = submit('a')
    await settle()
    const second = submit('b')
    await clock.advance(37)
    expect(sent).toEqual([['a']])
    await clock.advance(1)
    expect(sent).toEqual([['a'], ['a', 'b']])
    await clock.advance(75)
    expect(await Promise.all([first, second])).toEqual(['a!', 'b!'])
    expect(sent).toEqual([['a'], ['a', 'b'], ['a', 'b']])
    expect(setbacks).toEqual([38, 75])
    expect(clock.pending).toBe(0)
  })

  it('does not lose the waiting half of a batch when the other half fails', async () => {
    script = [failsOn('a'), failsOn('a'), failsOn('a'), busy]
    const submit = commit()
    const answers = Promise.allSettled(['a', 'b', 'c', 'd'].map(submit))
    await clock.advance(1_000)
    expect((await answers).map(({ status }) => status)).toEqual([
      'rejected',
      'fulfilled',
      'fulfilled',
      'fulfilled',
    ])
    expect(sent.at(-1)).toEqual(['b', 'c', 'd'])
  })

  it('aborts a batch after 6 s, and sends it again', async () => {
    let signal: AbortSignal | undefined
    script = [
      (_, given) => {
        signal = given
        return silence()
      },
    ]
    const submit = commit()
    const only = submit('a')
    await clock.advance(5_999)
    expect([sent.length, signal?.aborted]).toEqual([1, false])
    await clock.advance(1)
    expect(signal?.aborted).toBe(true)
    await clock.advance(100)
    expect(await only).toBe('a!')
    expect(sent).toEqual([['a'], ['a']])
  })

  it('ignores the late answer of a batch that it gave up', async () => {
    const late = held()
    script = [late.send]
    const submit = commit(async (units) => units.map((unit) => `${unit} second`))
    const only = submit('a')
    await clock.advance(6_100)
    late.release()
    expect(await only).toBe('a second')
  })

  it('rejects a unit as unavailable after 25 s, and not before', async () => {
    const submit = commit(busy)
    const early = expect(submit('early')).rejects.toBeInstanceOf(LedgerUnavailable)
    await clock.advance(20_000)
    let isOver = false
    const late = submit('late').catch((error: unknown) => {
      isOver = true
      return error
    })
    await clock.advance(5_000)
    await early
    expect(isOver).toBe(false)
    await clock.advance(19_999)
    expect(isOver).toBe(false)
    await clock.advance(1)
    expect(await late).toMatchObject({ code: 'ledger_unavailable' })
    const before = sent.length
    await clock.advance(60_000)
    expect(sent).toHaveLength(before)
    expect(clock.pending).toBe(0)
  })

  it('rejects units after 25 s also if they wait behind a full batch', async () => {
    const submit = commit(silence)
    const answers = Promise.allSettled(names(200).map(submit))
    await clock.advance(25_000)
    const reasons = (await answers).map((each) => each.status === 'rejected' && each.reason)
    expect(reasons.every((reason) => reason instanceof LedgerUnavailable)).toBe(true)
  })

  it('does not send a unit again after its 25 s', async () => {
    script = [silence, silence, silence, silence, silence]
    const submit = commit()
    const old = submit('old').catch(() => 'over')
    await clock.advance(24_900)
    const young = submit('young')
    await clock.advance(10_000)
    expect(await old).toBe('over')
    expect(await young).toBe('young!')
    expect(sent.at(-1)).toEqual(['young'])
  })

  it('works again after a batch that failed', async () => {
    const submit = commit(failsOn('bad'))
    await expect(submit('bad')).rejects.toThrow('bad')
    expect(await submit('good')).toBe('good!')
  })
})

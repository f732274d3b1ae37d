import { afterEach, describe, expect, it, vi } from 'vitest'
import { inTime, TookTooLong } from '../../sidecar/in-time.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

const forEver = () => {
  for (;;);
}

describe('work that has a time limit', () => {
  it('returns what it makes, and throws what it throws', () => {
    expect(inTime(1_000, () => 'tea')).toBe('tea')
    expect(() =>
      inTime(1_000, () => {
        throw new RangeError('hot')
      }),
    ).toThrow(RangeError)
  })

  it.each([
    ['a loop', forEver],
    ['a regular expression', () => /^(?:a*)*b$/.test('a'.repeat(60))],
  ])('is ended, and leaves no global behind: %s', (_name, work) => {
    const { stackTraceLimit } = Error
    const names = Reflect.ownKeys(globalThis)
    const withoutStacks = () => {
      Error.stackTraceLimit = 0
      return work()
    }
    expect(() => inTime(20, withoutStacks)).toThrow(TookTooLong)
    expect(Error.stackTraceLimit).toBe(stackTraceLimit)
    expect(Reflect.ownKeys(globalThis)).toEqual(names)
  })

  it('is tried again where the machine was busy with other things', () => {
    vi.spyOn(process, 'threadCpuUsage').mockReturnValue({ user: 12_000, system: 5_000 })
    let tries = 0
    const slowAtFirst = () => (++tries < 3 ? forEver() : 'tea')
    expect(inTime(20, slowAtFirst)).toBe('tea')
    expect(() => inTime(20, forEver)).toThrow(TookTooLong)
  })
})

import { describe, expect, it } from 'vitest'
import { readLamp } from '../../../console/frame/lamp.ts'

const NOW = Date.parse('2026-03-02T10:00:00Z')

describe('the lamp beside the connection', () => {
  it('is green only while the stream is open and all that it told has arrived', () => {
    const since = NOW - 60_000
    expect(readLamp({ name: 'live', since, currentAt: NOW }, NOW).lamp).toBe('go')
    expect(readLamp({ name: 'connecting', since }, NOW).lamp).toBe('caution')
    expect(readLamp({ name: 'waiting', since }, NOW).lamp).toBe('caution')
    expect(readLamp({ name: 'refused', since, code: 'x', error: 'No.' }, NOW).lamp).toBe('stop')
    expect(readLamp({ name: 'closed' }, NOW).lamp).toBe('stop')
  })

  it('forgives a short break, then says since when what is shown is stale', () => {
    const broken = (agoMs: number) =>
      readLamp(
        { name: 'reconnecting', since: NOW - agoMs, currentAt: NOW - agoMs, reason: 'silent' },
        NOW,
      )
    expect(broken(9_999)).toMatchObject({ lamp: 'caution', text: 'Reconnecting…' })
    expect(broken(10_000)).toMatchObject({
      lamp: 'stop',
      text: expect.stringMatching(/^Stale since/),
    })
  })
})

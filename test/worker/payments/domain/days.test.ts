import { describe, expect, it } from 'vitest'
import { dayOf, daysBetween, isZone, startOfDay } from '../../../../worker/payments/domain/days.ts'

const startIn = (day: string, zone: string) => new Date(startOfDay(day, zone)).toISOString()

describe('a day of a time zone', () => {
  it('begins at its midnight, in summer and in winter', () => {
    expect(startIn('2026-11-27', 'UTC')).toBe('2026-11-27T00:00:00.000Z')
    expect(startIn('2026-11-27', 'Asia/Baghdad')).toBe('2026-11-26T21:00:00.000Z')
    expect(startIn('2026-07-01', 'Europe/Berlin')).toBe('2026-06-30T22:00:00.000Z')
    expect(startIn('2026-12-01', 'Europe/Berlin')).toBe('2026-11-30T23:00:00.000Z')
    expect(startIn('2026-11-27', 'Pacific/Kiritimati')).toBe('2026-11-26T10:00:00.000Z')
  })

  it('has 23 or 25 hours when the clock changes, and begins later where midnight is skipped', () => {
    const hours = (day: string, next: string, zone: string) =>
      (startOfDay(next, zone) - startOfDay(day, zone)) / 3_600_000
    expect(hours('2026-03-29', '2026-03-30', 'Europe/Berlin')).toBe(23)
    expect(hours('2026-10-25', '2026-10-26', 'Europe/Berlin')).toBe(25)
    expect(startIn('2018-11-04', 'America/Sao_Paulo')).toBe('2018-11-04T03:00:00.000Z')
  })

  it('is the date of each of its moments', () => {
    const start = startOfDay('2026-11-27', 'Asia/Baghdad')
    expect(dayOf(start, 'Asia/Baghdad')).toBe('2026-11-27')
    expect(dayOf(start - 1, 'Asia/Baghdad')).toBe('2026-11-26')
    expect(daysBetween('2026-02-27', '2026-03-02')).toEqual([
      '2026-02-27',
      '2026-02-28',
      '2026-03-01',
    ])
  })

  it('needs a zone that exists', () => {
    expect(isZone('Asia/Baghdad')).toBe(true)
    expect(isZone('Mars/Base')).toBe(false)
  })
})

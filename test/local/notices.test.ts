import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { deliveryNotices, followEvents, storeNotices } from '../../local/notices.ts'
import { PATIENT } from '../support/patience.ts'

describe('the terminal', () => {
  it('shows once that the board is gone, and once that it is back', () => {
    const notices: string[] = []
    const onEvent = storeNotices((sentence) => notices.push(sentence))
    onEvent('edge.synced', {})
    onEvent('store.present', { root: '/b/.cairn', files: 7 })
    onEvent('store.missing', { root: '/b/.cairn' })
    onEvent('store.missing', { root: '/b/.cairn' })
    onEvent('store.awaited', { dir: '/b' })
    expect(notices).toEqual(['The board in /b/.cairn is gone; what was published of it stays.'])
    onEvent('store.present', { root: '/b/.cairn', files: 7 })
    onEvent('store.present', { root: '/b/.cairn', files: 7 })
    expect(notices.slice(1)).toEqual(['The board in /b/.cairn is back.'])
  })

  it('shows why a board cannot be read', () => {
    const notices: string[] = []
    const why = '/b/tasks cannot be read (EACCES)'
    storeNotices((sentence) => notices.push(sentence))('store.unreadable', { root: '/b', why })
    expect(notices).toEqual([
      'The board in /b cannot be read whole: /b/tasks cannot be read (EACCES).',
    ])
  })

  it('shows once for each reason that events do not arrive, and once that they do again', () => {
    const notices: string[] = []
    const onEvent = deliveryNotices('http://shop.test/events', (sentence) => notices.push(sentence))
    const failed = { type: 'PaymentSucceeded', error: 'connection refused' }
    onEvent('info', 'payments.delivery.delivered', {})
    onEvent('warn', 'payments.delivery.failed', failed)
    onEvent('warn', 'payments.delivery.failed', { ...failed, type: 'PaymentFailed' })
    onEvent('warn', 'payments.delivery.failed', { type: 'PaymentFailed', status: 401 })
    onEvent('warn', 'payments.delivery.failed', failed)
    onEvent('info', 'payments.delivery.delivered', {})
    onEvent('warn', 'payments.delivery.failed', { type: 'PaymentFailed', status: 404 })
    expect(notices).toEqual([
      'PaymentSucceeded was not delivered to http://shop.test/events (connection refused). It is sent again.',
      'PaymentFailed was not delivered to http://shop.test/events (it answered 401; its secret must be eventsSecret of local.json). It is sent again.',
      'Events are delivered to http://shop.test/events again.',
      'PaymentFailed was not delivered to http://shop.test/events (it answered 404). It is sent again.',
    ])
  })

  it('shows the events that an edge in another process prints, each once and whole', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'signalbox-notices-'))
    const log = join(dir, 'workerd.log')
    const shown: string[] = []
    const end = new AbortController()
    await writeFile(log, '{"event":"ready"}\nPaymentFailed order-1: No.\nPaymentCanc')
    const followed = followEvents(log, (text) => shown.push(text), end.signal)
    await expect.poll(() => shown, PATIENT).toHaveLength(1)
    await appendFile(log, 'elled order-2: Expired\nPayments are open\nAlertRaised é: dispute\n')
    await expect.poll(() => shown, PATIENT).toHaveLength(3)
    await appendFile(log, 'PaymentRefunded order-3: 250 IQD\n')
    end.abort()
    await followed
    expect(shown).toEqual([
      'PaymentFailed order-1: No.\n',
      'PaymentCancelled order-2: Expired\n',
      'AlertRaised é: dispute\n',
      'PaymentRefunded order-3: 250 IQD\n',
    ])
    await rm(dir, { recursive: true })
  })
})

import { expect, it } from 'vitest'
import { deliveryNotices } from '../../local/one-process/delivery-notices.ts'

it('the terminal shows once that events do not arrive, and why, and once that they do again', () => {
  const told: string[] = []
  const onEvent = deliveryNotices('http://shop.test/events', (sentence) => told.push(sentence))
  const failed = { type: 'PaymentSucceeded', error: 'connection refused' }
  onEvent('info', 'payments.delivery.delivered', {})
  onEvent('warn', 'payments.delivery.failed', failed)
  onEvent('warn', 'payments.delivery.failed', { type: 'PaymentFailed', status: 404 })
  onEvent('info', 'payments.delivery.delivered', {})
  onEvent('warn', 'payments.delivery.failed', { type: 'PaymentFailed', status: 404 })
  expect(told).toEqual([
    'PaymentSucceeded was not delivered to http://shop.test/events (connection refused). It is sent again.',
    'Events are delivered to http://shop.test/events again.',
    'PaymentFailed was not delivered to http://shop.test/events (it answered 404). It is sent again.',
  ])
})

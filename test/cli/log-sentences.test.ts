import { describe, expect, it } from 'vitest'
import { boardSentences, deliverySentences } from '../../cli/log-sentences.ts'

describe('the terminal', () => {
  it('shows once that a board is gone, and once that it is back, by its name', () => {
    const notices: string[] = []
    const onEvent = boardSentences((sentence) => notices.push(sentence))
    const [one, other] = [
      { board: '/b', root: '/b/.cairn' },
      { board: '/b/web#kiro', root: '/b/web/.kiro/specs' },
    ]
    onEvent('edge.synced', one)
    onEvent('store.present', { ...one, files: 7 })
    onEvent('store.present', { ...other, files: 7 })
    onEvent('store.missing', one)
    onEvent('store.missing', one)
    onEvent('store.awaited', { dir: '/b' })
    const gone = (name: string) => `The board ${name} is gone; what was published of it stays.`
    expect(notices).toEqual([gone('/b in /b/.cairn')])
    onEvent('store.missing', other)
    onEvent('store.present', { ...one, files: 7 })
    onEvent('store.present', { ...one, files: 7 })
    expect(notices.slice(1)).toEqual([
      gone('/b/web#kiro in /b/web/.kiro/specs'),
      'The board /b in /b/.cairn is back.',
    ])
  })

  it('shows which boards are left out, and why', () => {
    const notices: string[] = []
    const why = 'The board in /b/x is a link that leads out of it.'
    boardSentences((sentence) => notices.push(sentence))('board.left_out', { why })
    expect(notices).toEqual([why])
  })

  it('names each worktree, and says what is not known of it', () => {
    const notices: string[] = []
    const onEvent = boardSentences((sentence) => notices.push(sentence))
    onEvent('tree.found', { tree: 'feat', dir: '/b/feat', branch: 'feat/x' })
    onEvent('tree.found', { tree: 'old', dir: '/b/old' })
    onEvent('tree.no_merge_base', { tree: 'old', dir: '/b/old', why: 'nobody knows' })
    onEvent('tree.left', { tree: 'old', dir: '/b/old' })
    onEvent('board.moved', { board: '/b', dir: '/b/feat' })
    expect(notices).toEqual([
      'The worktree feat in /b/feat (branch feat/x) is part of its repository’s boards.',
      'The worktree old in /b/old is part of its repository’s boards.',
      'The worktree old has no known merge base: nobody knows.',
      'The worktree old in /b/old is gone.',
      'The board /b is now that of the worktree /b/feat.',
    ])
  })

  it('shows why a board cannot be read', () => {
    const notices: string[] = []
    const why = '/b/tasks cannot be read (EACCES)'
    boardSentences((sentence) => notices.push(sentence))('store.unreadable', {
      board: 'b',
      root: '/b',
      why,
    })
    expect(notices).toEqual([
      'The board b in /b cannot be read whole: /b/tasks cannot be read (EACCES).',
    ])
  })

  it('shows once for each reason that events do not arrive, and once that they do again', () => {
    const notices: string[] = []
    const onEvent = deliverySentences('http://shop.test/events', (sentence) =>
      notices.push(sentence),
    )
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
})

// Notices of a board: the rules, the last deliveries, and a test of a rule.

import { setTimeout as sleep } from 'node:timers/promises'
import type { NoticeDelivery, Notices } from '../../libraries/api/types.ts'
import { NOTICE_CAUSES } from '../../worker/shared/notice-rules.ts'
import { printable } from '../../worker/shared/printable.ts'
import { TARGET } from '../board/target.ts'
import { askBoard } from '../claim/answer.ts'
import { define } from '../command.ts'
import { FAILED } from '../exit-codes.ts'
import { askEdge } from '../request.ts'
import { JSON_OUTPUT } from '../settings.ts'
import { noticeTo } from '../terminal.ts'
import { UsageError } from '../usage.ts'

export const command = define({
  argument: ['WORD...', 'test and the name of a rule [lists what there is]'],
  usage: '[test RULE] [options]',
  description: `\
Prints the rules for notices of a board, and the last 50 deliveries. Rules are set by notices in
signalbox.config.ts, or by --notify. With test RULE each receiver of the rule gets a test notice;
exit code 1: one of them did not answer 2xx, or its command failed. RULE is one of
${NOTICE_CAUSES.join(', ')}. It needs a running
Signalbox: that of the project, or of --url with a token that has board:lead.`,
  options: [...TARGET, JSON_OUTPUT],
  async run(input, context) {
    const [word, on, ...more] = input.arguments
    const isTest = word === 'test' && on !== undefined && more.length === 0
    if (word !== undefined && !isTest) throw new UsageError('Give no word, or: test RULE.')
    const rule = NOTICE_CAUSES.find((name) => name === on)
    if (isTest && rule === undefined) {
      throw new UsageError(`There is no rule ${on}: it is one of ${NOTICE_CAUSES.join(', ')}.`)
    }
    return await askBoard(input, context, async ({ board, edge }) => {
      const { json } = input.options
      const notices = () => askEdge<Notices>(edge, '/notices', { board })
      if (rule === undefined) {
        const all = await notices()
        return json ? { line: all } : { text: listed(all) }
      }
      const asked = { board, body: { on: rule }, timeoutMs: TESTED_MS }
      let { deliveries } = await askEdge<Tested>(edge, '/notices/test', asked)
      if (deliveries.some(isPending)) noticeTo(context.io)('Waiting for the sidecar to run it …')
      for (let waited = 0; deliveries.some(isPending) && waited < COMMAND_MS; waited += LOOK_MS) {
        await sleep(LOOK_MS)
        const now = await notices()
        deliveries = deliveries.map((it) => now.deliveries.find(({ id }) => id === it.id) ?? it)
      }
      const code = deliveries.every(({ state }) => state === 'delivered') ? 0 : FAILED
      const text = deliveries.map(deliveryLine).join('')
      return json ? { line: { deliveries }, code } : { text, code }
    })
  },
})

type Tested = Pick<Notices, 'deliveries'>

/** The edge itself waits ten seconds for a receiver. */
const TESTED_MS = 30_000
/** A sidecar without a socket gets commands with its next report. */
const COMMAND_MS = 45_000
const LOOK_MS = 500

const isPending = ({ state }: NoticeDelivery): boolean => state === 'pending'

function listed({ rules, deliveries }: Notices): string {
  if (rules.length === 0) return 'No rules: see notices in signalbox.config.ts, and --notify URL.\n'
  const lines = rules.map(({ on, minutes, problem, ...to }) => {
    const after = minutes > 0 ? ` after ${minutes} min` : ''
    const why = problem === undefined ? '' : `: ${problem}`
    return `${on}${after} → ${receiverOf(to)}${why}\n`
  })
  return [...lines, ...(deliveries.length > 0 ? ['\n'] : []), ...deliveries.map(deliveryLine)].join(
    '',
  )
}

const receiverOf = ({ to, host }: Pick<NoticeDelivery, 'to' | 'host'>): string =>
  host === undefined ? to : `${to} ${host}`

function deliveryLine(delivery: NoticeDelivery): string {
  const { at, state, attempts, error, causes, more = 0, test } = delivery
  const [first] = causes
  const others = causes.length - 1 + more
  const about = [first?.on, first?.task, first?.title].filter((it) => it !== undefined).join(' ')
  const what = others > 0 ? `${about} and ${others} more` : about
  const why = state === 'delivered' || error === undefined ? '' : `: ${error}`
  const tries = attempts > 1 ? ` after ${attempts} tries` : ''
  const words = `${state}${tries} → ${receiverOf(delivery)}${why}`
  return `${printable(`${at} ${test ? 'test of ' : ''}${what}: ${words}`)}\n`
}

// Pauses a board, or bounds what is handed out of it.

import { MAX_VALID } from '../../worker/shared/board-settings.ts'
import { TARGET } from '../board/target.ts'
import { setLimits } from '../claim/set-limits.ts'
import { define } from '../command.ts'
import { Setting } from '../setting.ts'
import { UsageError } from '../usage.ts'

const OPTIONS = [
  new Setting('--per-parent <on|off>', 'one agent at a time works on the parts of a parent').oneOf([
    'on',
    'off',
  ]),
  new Setting('--at-most <N|off>', 'so many claims are valid at once'),
  ...TARGET,
] as const

export const command = define({
  usage: '[--per-parent on|off] [--at-most N|off] [options]',
  description: `\
No task of the board can be claimed until signalbox resume. Claims that are held stay valid, and
claim --wait waits. With --per-parent or --at-most the board is not paused: these limits are set,
and stay until they are off. Prints one line of JSON with what is set now. It needs a running
Signalbox: that of the project, or of --url with a token that has board:lead. For payments, there is
signalbox payments pause.`,
  options: OPTIONS,
  run: (input, context) => {
    const { perParent, atMost } = input.options
    const bounds = {
      ...(perParent !== undefined && { perParent: perParent === 'on' }),
      ...(atMost !== undefined && { atMost: readAtMost(atMost) }),
    }
    const isBounded = Object.keys(bounds).length > 0
    return setLimits(isBounded ? bounds : { paused: true }, input, context)
  },
})

/** Throws UsageError. */
function readAtMost(text: string): number | null {
  if (text === 'off') return null
  const most = Number(text)
  if (/^\d+$/.test(text) && most >= 1 && most <= MAX_VALID) return most
  const bound = `a whole number from 1 to ${MAX_VALID}, or off`
  throw new UsageError(`--at-most must be ${bound}, not "${text}".`)
}

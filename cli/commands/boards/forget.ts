// Takes a board that no sidecar publishes off the list of a Signalbox.

import { join } from 'node:path'
import { DATA_DIR } from '../../../system/data/data-folder.ts'
import { type BoardAtEdge, boardNames } from '../../board/edge-board.ts'
import { called, edgeAt, SIGNALBOX } from '../../board/target.ts'
import { define } from '../../command.ts'
import type { Context } from '../../context.ts'
import { FAILED } from '../../exit-codes.ts'
import { EdgeRefused, requestEdge } from '../../request.ts'
import { readDataFolder, runningAbove } from '../../running-system.ts'
import type { OptionsOf } from '../../setting.ts'
import { announce, noticeTo } from '../../terminal.ts'
import { type Input, missing, refuseNeedless, UsageError } from '../../usage.ts'

type Options = OptionsOf<typeof SIGNALBOX>

export const command = define({
  argument: ['NAME', "the board's name, or the end of it"],
  usage: 'NAME [--url URL --token-file FILE | --data DIR]',
  description: `\
NAME is the board's name, or the end of it. A board that a sidecar publishes is not forgotten, and
one that is published again is listed again. Nothing in its folder changes. With --url the token
needs the scopes board:read and board:write.`,
  options: SIGNALBOX,
  run,
})

async function run(input: Input<Options>, context: Context): Promise<number> {
  const [name] = input.arguments
  if (name === undefined) throw missing({ 'NAME, the board that is gone': name })
  const edge = await edgeOf(input, context)
  const notice = noticeTo(context.io)
  try {
    const listed = await boardNames(edge)
    const [board, another] = called(listed, name)
    if (!board || another) {
      const why = another ? `Several boards are called ${name}` : `No board is called ${name}`
      notice(`${why}: the list has ${listed.map((one) => one.name).join(', ') || 'none'}.`)
      return FAILED
    }
    try {
      const answer = await requestEdge(edge, '/boards', { method: 'DELETE', board: board.name })
      answer.resume()
    } catch (error) {
      if (!(error instanceof EdgeRefused)) throw error
      notice(`${board.name} stays on the list. ${error.message}`)
      return FAILED
    }
    announce(context.io, `${board.name} is off the list.\n`, 'board.forgotten', {
      board: board.name,
    })
    return 0
  } catch (error) {
    notice(`The list of boards at ${edge.url} cannot be changed: ${String(error)}`)
    return FAILED
  }
}

/** Throws UsageError. */
async function edgeOf(
  input: Input<Options>,
  { env, cwd }: Context,
): Promise<Omit<BoardAtEdge, 'path'>> {
  const { options } = input
  if (options.url) return edgeAt(options.url, input, env)
  refuseNeedless(input, ['--token-file'], 'without --url')
  const dir = options.data ?? (await runningAbove(cwd)) ?? join(cwd, DATA_DIR)
  const { local } = await readDataFolder(dir, options, env)
  const { sidecar } = local.tokens
  if (sidecar === undefined) throw new UsageError('It runs payments alone: there are no boards.')
  return { url: local.url, token: async () => sidecar }
}

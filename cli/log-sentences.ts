// The sentences at the terminal of `dev` and `npm start`, made of what sidecars and the edge log.

import type { LocalBoard } from '../system/data/local-json.ts'
import type { Log } from '../worker/shared/log.ts'

export const appeared = ({ path, layout, dir }: LocalBoard): string =>
  `The board ${path} has appeared in ${dir} (${layout}).`

/**
 * Takes what sidecars log, and prints which boards are left out, and when the folder of one goes
 * away and is back.
 */
export function boardSentences(
  notice: (sentence: string) => void,
): (event: string, fields: Readonly<Record<string, unknown>>) => void {
  /** Their names. A process that was started again, and finds none, knows no name. */
  const gone = new Set<unknown>()
  const unwatched = new Set<unknown>()
  return (event, { board, root, dir, why, error, tree, branch }) => {
    const which = `The board ${board} in ${root}`
    switch (event) {
      case 'board.left_out':
      case 'board.few_tasks':
        notice(String(why))
        break
      case 'tree.found': {
        const at = branch === undefined ? dir : `${dir} (branch ${branch})`
        notice(`The worktree ${tree} in ${at} is part of its repository’s boards.`)
        break
      }
      case 'tree.no_merge_base':
        notice(`The worktree ${tree} has no known merge base: ${why}.`)
        break
      case 'tree.left':
        notice(`The worktree ${tree} in ${dir} is gone.`)
        break
      case 'board.moved':
        notice(`The board ${board} is now that of the worktree ${dir}.`)
        break
      case 'board.defect':
        notice(`The board ${board} failed by a defect of Signalbox (${error}); it is opened again.`)
        break
      case 'watch.failed':
        if (unwatched.has(board)) break
        unwatched.add(board)
        notice(`The board ${board} cannot be watched (${why}); its files are looked at by scans.`)
        break
      case 'watch.armed':
        if (unwatched.delete(board)) notice(`The board ${board} is watched again.`)
        break
      case 'store.awaited':
        if (gone.size === 0) notice(`The board in ${dir} is gone; what was published of it stays.`)
        gone.add(undefined)
        break
      case 'store.missing':
      case 'store.unreadable':
        // A sidecar that was started again logs once more what is known.
        if (gone.has(board)) break
        gone.add(board)
        if (event === 'store.unreadable') notice(`${which} cannot be read whole: ${why}.`)
        else notice(`${which} is gone; what was published of it stays.`)
        break
      case 'board.left':
        // If it returns, it has appeared.
        gone.delete(board)
        break
      case 'store.present':
        if ([board, undefined].filter((it) => gone.delete(it)).length > 0) {
          notice(`${which} is back.`)
        }
    }
  }
}

/**
 * Takes what the edge logs, and prints when the shop's endpoint does not take its events, and when
 * it does again: without that, a wrong port looks like a payment that went well. Each reason is
 * printed once: behind a closed port there may be a wrong secret. `url`: where events are posted.
 */
export function deliverySentences(url: string, notice: (sentence: string) => void): Log {
  const said = new Set<unknown>()
  return (_level, event, fields) => {
    const why = fields.status === undefined ? fields.error : answered(fields.status)
    if (event === 'payments.delivery.failed' && !said.has(why)) {
      said.add(why)
      notice(`${fields.type} was not delivered to ${url} (${why}). It is sent again.`)
    }
    if (event === 'payments.delivery.delivered' && said.size > 0) {
      said.clear()
      notice(`Events are delivered to ${url} again.`)
    }
  }
}

const answered = (status: unknown): string =>
  `it answered ${status}${status === 401 ? '; its secret must be eventsSecret of local.json' : ''}`

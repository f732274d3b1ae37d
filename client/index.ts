// The package `signalbox/client`: its whole public face, and nothing else.

export type {
  Check,
  Live,
  Message,
  Provenance,
  Run,
  Session,
  Task,
} from '../worker/board/wire.ts'
export type { EventSourceClass, EventSourceLike } from './event-source.ts'
export {
  BoardError,
  type BoardState,
  type BoardWatch,
  type LostReason,
  type Signal,
  type TaskDetail,
  type WatchBoardOptions,
} from './types.ts'
export { watchBoard } from './watch-board.ts'

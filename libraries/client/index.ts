// The public API of the package `signalbox/client`.

export type {
  Activity,
  ActivityRow,
  BoardStatus,
  Check,
  ListedBoard,
  Live,
  Message,
  Provenance,
  Run,
  Session,
  Task,
  TaskDetail,
} from '../api/types.ts'
export {
  type ActivityQuery,
  BoardError,
  type BoardState,
  type BoardWatch,
  type EventSourceClass,
  type EventSourceLike,
  type LostReason,
  type Signal,
  type StaleReason,
  type WatchBoardOptions,
} from './types.ts'
export { watchBoard } from './watch-board.ts'

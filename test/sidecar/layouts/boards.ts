// Random boards of each tool.

import type { LayoutName } from '../../../worker/board/wire.ts'
import {
  backlogBoard,
  bmadBoard,
  bmadSpec,
  cairnBoard,
  type Dice,
  type Files,
  listBoard,
  openSpecBoard,
  taskMasterBoard,
} from '../../support/odd-boards.ts'

export const BOARDS = {
  cairn: (dice) => cairnBoard(dice).files,
  'backlog-md': (dice) => backlogBoard(dice).files,
  'task-master': taskMasterBoard,
  openspec: openSpecBoard,
  kiro: (dice) => listBoard(dice, 'kiro').files,
  'spec-kit': (dice) => listBoard(dice, 'spec-kit').files,
  bmad: (dice) => ({ ...bmadBoard(dice).files, ...bmadSpec(dice) }),
} satisfies Record<LayoutName, (dice: Dice) => Files>

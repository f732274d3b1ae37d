import { accessContract } from '../../contract/access.ts'
import { boardContract } from '../../contract/board.ts'
import { processEdge } from '../../support/process-edge.ts'

const edge = processEdge()
boardContract('this process', { edge: () => edge, sendsConnection: true })
accessContract('this process', { edge: () => edge })

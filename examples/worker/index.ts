import { signalbox } from 'signalbox/worker'
import config from './signalbox.config.ts'

const edge = signalbox(config)

export default edge.handler
export const { RepositoryObject, LedgerObject, SessionsObject, DirectoryObject, Dispatcher } = edge

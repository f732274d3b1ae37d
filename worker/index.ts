// The Worker that `wrangler deploy` in this repository deploys.

import file from '../signalbox.config.ts'
import { signalbox } from './cloudflare.ts'

const edge = signalbox(file)

export default edge.handler
export const { RepositoryObject, LedgerObject, SessionsObject, DirectoryObject, Dispatcher } = edge

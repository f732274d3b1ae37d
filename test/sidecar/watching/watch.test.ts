import { watchChokidar } from '../../../sidecar/watching/watch-chokidar.ts'
import { watchNative } from '../../../sidecar/watching/watch-native.ts'
import { watchPolling } from '../../../sidecar/watching/watch-polling.ts'
import { watchContract } from '../../contract/watch.ts'

watchContract('native', watchNative)
watchContract('chokidar', watchChokidar)
watchContract('polling', watchPolling)

import { oneRequestContract } from '../contract/one-request.ts'

oneRequestContract('node')
oneRequestContract('workerd')
oneRequestContract('deno')

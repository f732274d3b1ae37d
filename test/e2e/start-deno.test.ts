import { localSystemContract } from '../contract/local-system.ts'

localSystemContract('deno')

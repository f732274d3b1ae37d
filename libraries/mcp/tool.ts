// A tool: what it is called, what it takes and answers, and the requests to the API that it is.

import * as z from 'zod'
import { claimSchema } from '../../worker/board/api/claim-requests.ts'
import { repositoryQuery } from '../../worker/board/queries.ts'
import type { Call } from './caller.ts'

export interface Tool {
  name: string
  title: string
  /** For the model. */
  description: string
  /** It changes nothing. With a claim, it renews that. */
  reads: boolean
  input: z.ZodObject
  output: z.ZodObject
  /** Methods: `tool` has the real types. Throws Refused. */
  run(asked: Record<string, unknown>, call: Call): Promise<object>
  /** What a model needs of the answer. */
  text(answer: object): string
}

export const tool = <Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: Omit<Tool, 'input' | 'output' | 'run' | 'text'> & {
    input: Input
    output: Output
    run(asked: z.output<Input>, call: Call): Promise<z.output<Output>>
    text(answer: z.output<Output>): string
  },
): Tool => definition as unknown as Tool

export const board = repositoryQuery.shape.path
  .unwrap()
  .describe('Its `path` in list_boards. Needed where the token names several.')
  .exactOptional()

export const claim = claimSchema.shape.claim.describe('The `claim` that claim_task answered.')

/** Of every tool that reads. */
export const READING = {
  board,
  claim: claim.describe('The claim that you hold: the call renews it.').exactOptional(),
}

/** Hosts and proxies end a request that is silent for a minute. */
export const MAX_SECONDS = 50
export const seconds = z.int().min(0).max(MAX_SECONDS)

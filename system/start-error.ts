// Why a start failed.

/** docs/remedies.md says what to do for each. */
export const START_ERRORS = [
  'bad_configuration',
  'bad_store',
  'other_database',
  'damaged_database',
  'bad_data_folder',
  'data_folder_in_use',
  'port_taken',
  'no_network',
  'not_installed',
  'bundle_failed',
  'child_failed',
  'not_ready_in_time',
] as const
export type StartErrorCode = (typeof START_ERRORS)[number]

/** The message is one sentence for the person at the terminal. */
export class StartError extends Error {
  override readonly name = 'StartError'
  readonly code: StartErrorCode

  constructor(code: StartErrorCode, sentence: string, options?: ErrorOptions) {
    super(sentence, options)
    this.code = code
  }
}

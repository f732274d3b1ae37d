// Why a start failed.

export type StartErrorCode =
  | 'bad_configuration'
  | 'bad_store'
  | 'other_database'
  | 'bad_data_folder'
  | 'data_folder_in_use'
  | 'port_taken'
  | 'no_network'
  | 'not_installed'
  | 'bundle_failed'
  | 'child_failed'
  | 'not_ready_in_time'

/** The message is one sentence for the person at the terminal. */
export class StartError extends Error {
  override readonly name = 'StartError'
  readonly code: StartErrorCode

  constructor(code: StartErrorCode, sentence: string, options?: ErrorOptions) {
    super(sentence, options)
    this.code = code
  }
}

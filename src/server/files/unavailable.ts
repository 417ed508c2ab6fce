import { Refusal } from '../../catalog/failures.ts';

/**
 * The storage of files is away, or refuses this server: answered with 503, for the request did nothing wrong. `code`
 * is the storage's or the system's own word for it (`ECONNREFUSED`, `AccessDenied`), for the log.
 */
export class FilesUnavailable extends Refusal {
  readonly code: string;

  constructor(code: string, cause: unknown) {
    const description = 'The file storage of this server cannot be used now. Try again in a moment.';
    super([{ code: 'server.unavailable', source: null, description }]);
    this.name = 'FilesUnavailable';
    this.code = code;
    this.cause = cause;
  }
}

/** Where the server writes about its work; never tokens, bodies or query strings, at any level (contract §6). */
export interface AccessLog {
  answered(entry: AnsweredRequest): void;
  failed(requestId: string, error: unknown): void;
}

export interface AnsweredRequest {
  readonly requestId: string;
  readonly method: string;
  /** Route template, so that ids and queries stay out. */
  readonly route: string;
  readonly status: number;
  readonly milliseconds: number;
}

/** Where every test begins: 2026-03-02 12:00 UTC, a Monday. */
export const START = Date.UTC(2026, 2, 2, 12);

/** A clock that stands still until it is told to go on. */
export class TestClock {
  private milliseconds: number;

  constructor(milliseconds = START) {
    this.milliseconds = milliseconds;
  }

  readonly now = (): number => this.milliseconds;

  advance(milliseconds: number): void {
    this.milliseconds += milliseconds;
  }

  /** `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
  text(): string {
    return new Date(this.milliseconds).toISOString();
  }
}

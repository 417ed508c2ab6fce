import { strict as assert } from 'node:assert';
import { checkPlace } from '../../../src/server/maintenance/check/check.ts';
import { molarIn } from '../inprocess.ts';
import { type Served, serve, workplace } from '../molar.ts';
import { imageUploads, type Upload } from './contents.ts';
import type { Evidence } from './evidence.ts';
import { compareContent, compareFiles, contentOf } from './files.ts';
import { KillPlan, killWhileStarting } from './kills.ts';
import { hear, type LastResponse } from './listener.ts';
import type { Logged } from './operation.ts';
import { Oracle } from './oracle.ts';
import { writePractice } from './practice.ts';
import { Random } from './random.ts';
import { Connections, dataOf } from './request.ts';
import { openTortured, type StoreName, settled, type TorturedStore } from './stores.ts';
import type { Tally } from './tally.ts';
import { Writer } from './writer.ts';

const WRITERS = 10;

/** Kept answers that are asked for again in a round. */
const REPEATED = 3;

/** A practice that is killed again and again; each round goes on with what the one before it left. */
export class PracticeRun {
  private readonly oracle = new Oracle();
  private readonly store: TorturedStore;
  private readonly folder: Awaited<ReturnType<typeof workplace>>;
  private readonly random: Random;
  private readonly tally: Tally;
  private images: readonly Upload[] = [];
  /** What the clients of the last round know. */
  private log: Logged[] = [];
  private heard: Promise<LastResponse[]> = Promise.resolve([]);
  private killedAt = new Date(0);
  private round = 0;

  private constructor(
    folder: Awaited<ReturnType<typeof workplace>>,
    store: TorturedStore,
    random: Random,
    tally: Tally,
  ) {
    this.folder = folder;
    this.store = store;
    this.random = random;
    this.tally = tally;
  }

  /** Runs rounds on a new practice. Throws with everything that is wrong; the folder is kept then. */
  static async run(store: StoreName, rounds: number, seed: number, tally: Tally): Promise<void> {
    const folder = await workplace();
    const run = new PracticeRun(folder, await openTortured(store, folder.path), new Random(seed), tally);
    await run.begin();
    for (let round = 0; round < rounds; round++) await run.killOnce();
    await run.finish();
    await run.store.drop();
    await folder.remove();
  }

  private get args(): readonly string[] {
    return [...this.store.flags, '--rate-limit', '0', '--log-level', 'silent', '--file-retention', '0'];
  }

  private async begin(): Promise<void> {
    const { path } = this.folder;
    await writePractice(path);
    if (this.random.next() < 0.5) await killWhileStarting(path, this.args, this.random);
    const imported = await molarIn(path, ['server', 'import', 'practice.ndjson', ...this.store.flags]);
    assert.equal(imported.code, 0, imported.stderr);
    this.expectNothing(this.oracle.begin(await this.store.evidence()));
  }

  /** Starts a server, looks at what the one before it left, has clients write, and kills it while they do. */
  private async killOnce(): Promise<void> {
    if (this.random.next() < 0.1) {
      await killWhileStarting(this.folder.path, this.args, this.random);
      this.tally.starts++;
    }
    const served = await serve(this.folder.path, this.args);
    const connections = new Connections(served.url);
    try {
      const replayed = await this.look(connections);
      if (this.images.length === 0) this.images = await this.learnImages(connections, replayed);
      this.round++;
      await this.work(served, connections, replayed);
    } finally {
      await served.stop('SIGKILL');
      await connections.close();
    }
    this.tally.rounds++;
  }

  private async work(served: Served, connections: Connections, replayed: Logged[]): Promise<void> {
    const stop = new AbortController();
    const { told } = this.oracle;
    const shop = { round: this.round, writers: WRITERS, told, images: this.images };
    const writers = Array.from({ length: WRITERS }, (_, number) => {
      return new Writer(number, new Random(this.random.below(2 ** 32)), shop);
    });
    this.log = replayed;
    this.heard = hear(served.url, this.oracle.messages);
    const kill = new KillPlan(served, this.store, this.random);
    const note = (logged: Logged) => {
      this.log.push(logged);
      kill.answered();
    };
    const working = writers.map((writer) => writer.work(connections, note, stop.signal));
    this.killedAt = new Date();
    await kill.over;
    this.killedAt = new Date();
    stop.abort();
    await Promise.all(working);
    this.tally.killed(kill.kind);
  }

  /** Judges the last round on a server that has just started; answers what it wrote while doing so. */
  private async look(connections: Connections): Promise<Logged[]> {
    await settled(this.store, this.killedAt);
    const evidence = await this.store.evidence();
    const { problems, done, undone } = this.oracle.judge(evidence, this.log);
    const shared = this.store.place.database !== undefined;
    problems.push(...compareFiles(evidence, this.store.files, shared));
    problems.push(...compareHeard(evidence, await this.heard));
    problems.push(...this.strange());
    this.tally.judged(this.log, done.length);
    problems.push(...(await this.compareDocuments(connections)));
    const replayed = await this.repeat(connections, done, undone, problems);
    const { ok, problems: found } = await checkPlace(this.store.place, CHECK);
    if (!ok) problems.push(...found.map((problem) => `check: ${JSON.stringify(problem)}`));
    this.expectNothing(problems);
    return replayed;
  }

  /** A server that is there answers a database that is away with 503, and nothing with 500. */
  private strange(): string[] {
    const strange = this.log.filter(({ status }) => status !== undefined && status >= 500 && status !== 503);
    return strange.map(({ operation, status, text }) => `${operation.requestId} was answered ${status}: ${text}`);
  }

  /** Documents of the last round have the bytes that were sent, and the variants that calm servers make. */
  private async compareDocuments(connections: Connections): Promise<string[]> {
    const there = this.oracle.told.of('documents');
    const ids = new Map([...there.values()].map((record) => [String(record.name), record.id]));
    const problems: string[] = [];
    for (const { operation } of this.log) {
      const name = (operation.body as { name?: string } | undefined)?.name;
      const found = [...ids].find(([stored]) => name !== undefined && stored.startsWith(`${name}.`));
      if (operation.content === undefined || found === undefined) continue;
      problems.push(...(await compareContent(connections, found[1], operation.content)));
      this.tally.files += Object.keys(operation.content).length;
    }
    return problems;
  }

  /** Sends writes again that got no answer, and some that did, with their keys. */
  private async repeat(
    connections: Connections,
    done: readonly Logged[],
    undone: readonly Logged[],
    problems: string[],
  ): Promise<Logged[]> {
    const fresh: Logged[] = [];
    const hasKey = ({ operation }: Logged) => operation.key !== undefined;
    const acknowledged = this.log.filter((logged) => hasKey(logged) && logged.outcome === 'acknowledged');
    for (const { operation, text, outcome } of [...done.filter(hasKey), ...acknowledged.slice(-REPEATED)]) {
      const answer = await connections.send({ ...operation, requestId: `again-${operation.requestId}` });
      if (answer?.replayed !== true)
        problems.push(`${operation.requestId} was done, and not answered again: ${answer?.status}`);
      else if (outcome === 'acknowledged' && answer.text !== text)
        problems.push(`${operation.requestId} got another answer`);
      this.tally.replayed++;
    }
    for (const { operation } of undone.filter(hasKey)) {
      const again = { ...operation, requestId: `again-${operation.requestId}` };
      const answer = await connections.send(again);
      if (answer?.replayed !== false)
        problems.push(`${operation.requestId} was not done, and not done again: ${answer?.status}`);
      const outcome = answer !== undefined && answer.status < 300 ? 'acknowledged' : 'refused';
      fresh.push({ operation: again, outcome, status: answer?.status, text: answer?.text });
    }
    return fresh;
  }

  private async learnImages(connections: Connections, log: Logged[]) {
    const learned: Upload[] = [];
    for (const [at, image] of (await imageUploads()).entries()) {
      const requestId = `image-${at}`;
      const body = { ...image, name: `image ${at}` };
      const operation = {
        ...({ name: 'documents.create', method: 'POST', path: '/documents', body, requestId, key: requestId } as const),
        expected: [{ verb: 'create', table: 'documents' }] as const,
      };
      const answer = await connections.send(operation);
      assert.equal(answer?.status, 201, answer?.text);
      const { storage } = dataOf(answer) as { storage: Record<string, string> };
      const content = await contentOf(connections, storage);
      assert.equal(Object.keys(content).length, 4);
      log.push({ operation, outcome: 'acknowledged', status: 201, text: answer.text });
      learned.push({ ...image, content });
    }
    return learned;
  }

  /** The last look: with nobody serving, as an operator would, by commands of their own; and a server that ends as it should. */
  private async finish(): Promise<void> {
    const { path } = this.folder;
    const served = await serve(path, this.args);
    const connections = new Connections(served.url);
    await this.look(connections);
    await connections.close();
    assert.equal(await served.stop('SIGTERM'), 0);
    for (const words of [
      ['check', '--deep'],
      ['audit', 'verify'],
    ]) {
      const ended = await molarIn(path, ['server', ...words, '--json', ...this.store.flags]);
      assert.equal(ended.code, 0, `${words.join(' ')}: ${ended.stdout}${ended.stderr}`);
    }
    this.tally.messages += this.oracle.messages;
  }

  private expectNothing(problems: readonly string[]): void {
    if (problems.length === 0) return;
    const shown = problems.slice(0, 12).map((problem) => `  ${problem.slice(0, 1500)}`);
    throw new Error(
      `Round ${this.round} on ${this.folder.path}, which is kept (${this.store.flags.join(' ')}): ${problems.length} problems\n${shown.join('\n')}`,
    );
  }
}

const CHECK = { deep: false, repair: false, progress: () => {}, signal: new AbortController().signal, now: Date.now };

/** What was heard of the stream lasts, as it was told. */
function compareHeard({ messages }: Evidence, heard: readonly LastResponse[]): string[] {
  return heard.flatMap(({ id, payload }) => {
    const kept = messages[id - 1];
    if (kept !== undefined && kept.payload === JSON.stringify(payload)) return [];
    return [`message ${id} was heard, and ${kept === undefined ? 'is lost' : 'is another'}`];
  });
}

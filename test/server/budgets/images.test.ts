import { randomBytes } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { ImageTurns } from '../../../src/server/budgets/imageturns.ts';
import { refusalOf } from '../../support/calls.ts';
import { bareRecords } from '../../support/practice.ts';
import { sharedService } from '../../support/service.ts';
import { post } from '../resources/documentsof.ts';
import { budgetMetrics } from './metrics.ts';

/** Works that end when they are told to. */
function works(turns: ImageTurns) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    end: (name: string) => ends.get(name)?.(),
    ask: (name: string, org: number) =>
      turns
        .run(org, () => {
          begun.push(name);
          return new Promise<void>((resolve) => ends.set(name, resolve));
        })
        .then(
          () => 'done',
          (error: { budget?: string; status?: number }) => `${error.status} ${error.budget}`,
        ),
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('turns of images (contract §8)', () => {
  it('are so many at once, the others in the order in which they came, and 32 wait at most', async () => {
    const turns = new ImageTurns(2);
    const { ask, begun, end } = works(turns);
    const names = Array.from({ length: 34 }, (_, n) => `image ${n}`);
    const answers = names.map((name) => ask(name, 1));
    const told: string[] = [];
    void ask('one too many', 1).then((answer) => told.push(answer));
    await settled();
    expect(told).toEqual(['429 images']);
    expect(begun).toEqual(['image 0', 'image 1']);
    for (const [n, name] of names.entries()) {
      expect(turns.working.of(1)).toBe(Math.min(2, names.length - n));
      end(name);
      expect(await answers[n]).toBe('done');
      await settled();
      expect(begun).toEqual(names.slice(0, n + 3));
    }
    expect(turns.working.of(1)).toBe(0);
  });

  it('are those of each organization: one that waits does not make another wait', async () => {
    const { ask, begun } = works(new ImageTurns(1));
    for (let n = 0; n < 40; n++) void ask(`hostile ${n}`, 1);
    void ask('honest', 2);
    await settled();
    expect(begun).toEqual(['hostile 0', 'honest']);
  });

  it('are two at once of all organizations together, which take turns', async () => {
    const turns = new ImageTurns(2);
    const { ask, begun, end } = works(turns);
    for (let n = 0; n < 4; n++) void ask(`first ${n}`, 1);
    for (const org of [2, 3]) for (let n = 0; n < 2; n++) void ask(`other ${org} ${n}`, org);
    const expected = ['first 0', 'first 1', 'first 2', 'other 2 0', 'other 3 0', 'first 3', 'other 2 1', 'other 3 1'];
    for (const [n, name] of expected.entries()) {
      await settled();
      expect(begun).toEqual(expected.slice(0, n + 2));
      expect(turns.working.total).toBe(Math.min(2, expected.length - n));
      end(name);
    }
    await settled();
    expect(turns.working.total).toBe(0);
  });

  it('are as many together as one organization may have', async () => {
    const turns = new ImageTurns(5);
    const { ask, begun } = works(turns);
    for (let n = 0; n < 8; n++) void ask(`image ${n}`, n % 2);
    await settled();
    expect(begun).toHaveLength(5);
  });

  it('go on after a work that failed', async () => {
    const turns = new ImageTurns(1);
    const failing = turns.run(1, () => Promise.reject(new Error('damaged')));
    const next = turns.run(1, async () => 'next');
    await expect(failing).rejects.toThrow('damaged');
    expect(await next).toBe('next');
    expect(turns.working.most).toBe(0);
  });
});

const PIXELS = 100_000;
const service = sharedService(bareRecords, { budgets: { images: 1, imagePixels: PIXELS } });
const CROP = { fromX: 0, fromY: 0, width: 10, height: 10, ratio: 1 };
const image = (content: Buffer, crop: object = CROP) =>
  post(service, {
    name: randomBytes(8).toString('hex'),
    mimeType: 'PNG',
    file: { content: content.toString('base64'), ...crop },
  });
const plain = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: 'red' } })
    .png()
    .toBuffer();

/** A PNG of a few bytes that says it has so many pixels. */
function bomb(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    check.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, check]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  const content = deflateSync(Buffer.alloc(1000));
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', content), chunk('IEND', Buffer.alloc(0))]);
}

const TOO_LARGE = { status: 400, errors: ['file.content file.content'] };

describe('images over the budget of pixels (contract §8)', () => {
  it('are refused, and those of just as many are worked on', async () => {
    expect((await image(await plain(400, 250))).status).toBe(201);
    expect(refusalOf(await image(await plain(401, 250)))).toEqual(TOO_LARGE);
  });

  it('are known by their header: what they hold is not read', async () => {
    const before = (await budgetMetrics(service)).of('image-pixels').refused ?? 0;
    const called = await image(bomb(60_000, 60_000));
    expect(refusalOf(called)).toEqual(TOO_LARGE);
    expect(called.text).toContain('60000 × 60000 pixels');
    expect((await budgetMetrics(service)).of('image-pixels')).toMatchObject({ limit: PIXELS, refused: before + 1 });
  });

  it('are refused when their crop would be scaled to more', async () => {
    const crop = { fromX: 0, fromY: 0, width: 100, height: 100, ratio: 4 };
    expect(refusalOf(await image(await plain(300, 300), crop))).toEqual({
      status: 400,
      errors: ['field.range file.ratio'],
    });
  });
});

describe('images that come together', () => {
  it('are all answered, late, where they are not too many', async () => {
    const content = await plain(400, 250);
    const called = await Promise.all(Array.from({ length: 20 }, () => image(content)));
    expect(called.map(({ status }) => status)).toEqual(Array(20).fill(201));
    expect((await budgetMetrics(service)).of('images')).toEqual({ limit: 1, used: 0, refused: 0 });
  });
});

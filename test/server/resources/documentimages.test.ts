import { createHash } from 'node:crypto';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { refusalOf, type WireRecord, warningSources } from '../../support/calls.ts';
import { dump } from '../../support/dump.ts';
import { bareRecords } from '../../support/practice.ts';
import { sharedService } from '../../support/service.ts';
import { linksOf, post, posted } from './documentsof.ts';

const service = sharedService(bareRecords);

/** 600 × 400: red and green above, blue and white below. */
const QUARTERS = ['#ff0000', '#00ff00', '#0000ff', '#ffffff'];
const images = new Map<string, Buffer>();

async function picture(format: 'png' | 'jpeg' | 'gif', orientation?: number): Promise<Buffer> {
  const tile = (background: string) =>
    sharp({ create: { width: 300, height: 200, channels: 3, background } })
      .png()
      .toBuffer();
  const tiles = await Promise.all(QUARTERS.map(tile));
  const composed = sharp({ create: { width: 600, height: 400, channels: 3, background: 'black' } }).composite(
    tiles.map((input, index) => ({ input, left: (index % 2) * 300, top: index < 2 ? 0 : 200 })),
  );
  const turned = orientation === undefined ? composed : composed.withMetadata({ orientation });
  return turned.toFormat(format, { quality: 95 }).toBuffer();
}

beforeAll(async () => {
  for (const format of ['png', 'jpeg', 'gif'] as const) images.set(format.toUpperCase(), await picture(format));
});

const imageOf = (type: string): string => (images.get(type) as Buffer).toString('base64');
const crop = (fromX: number, fromY: number, width: number, height: number, ratio: number) => ({
  fromX,
  fromY,
  width,
  height,
  ratio,
});

async function download(document: WireRecord, variant: string) {
  const called = await service.call('GET', linksOf(document)[variant] ?? '', { token: null, organization: null });
  expect(called.status).toBe(200);
  const { format, width, height } = await sharp(called.bytes).metadata();
  const { 'content-type': type, 'repr-digest': digest } = called.headers;
  return { bytes: called.bytes, format, width, height, type, digest };
}

/** The colour at a place, each channel rounded to 0 or 255: JPEG is not exact. */
async function colourAt(bytes: Buffer, x: number, y: number): Promise<string> {
  const pixel = await sharp(bytes).removeAlpha().extract({ left: x, top: y, width: 1, height: 1 }).raw().toBuffer();
  return `#${[...pixel].map((value) => (value > 127 ? 'ff' : '00')).join('')}`;
}

describe.each(['PNG', 'JPEG', 'GIF'])('variants of %s (D38)', (mimeType) => {
  it('are cut, then scaled, in the own format', async () => {
    // 200 × 100 around the middle of the picture: a piece of every quarter.
    const document = await posted(service, {
      name: `cut-${mimeType}`,
      mimeType,
      file: { content: imageOf(mimeType), ...crop(200, 150, 200, 100, 0.5) },
    });
    expect(Object.keys(linksOf(document))).toEqual(['original', 'thumbnail', 'resized', 'cropped']);
    expect(document.thumbNailId).toMatch(new RegExp(`^${document.guidName}-`));
    const original = await download(document, 'original');
    expect(original.bytes).toEqual(images.get(mimeType));
    const cropped = await download(document, 'cropped');
    expect(cropped).toMatchObject({
      width: 200,
      height: 100,
      format: mimeType.toLowerCase(),
      type: `image/${mimeType.toLowerCase()}`,
    });
    const resized = await download(document, 'resized');
    expect(resized).toMatchObject({ width: 100, height: 50, format: mimeType.toLowerCase() });
    const thumbnail = await download(document, 'thumbnail');
    expect(thumbnail).toMatchObject({ width: 256, height: 171, format: mimeType.toLowerCase() });
    const hash = createHash('sha256').update(original.bytes).digest('base64');
    expect(original.digest).toBe(`sha-256=:${hash}:`);
    for (const { bytes, width = 0, height = 0, digest } of [cropped, resized, thumbnail]) {
      expect(digest).toBeUndefined();
      const [left, right, top, bottom] = [
        Math.floor(width / 4),
        Math.floor((width * 3) / 4),
        Math.floor(height / 4),
        Math.floor((height * 3) / 4),
      ];
      const corners = [
        await colourAt(bytes, left, top),
        await colourAt(bytes, right, top),
        await colourAt(bytes, left, bottom),
        await colourAt(bytes, right, bottom),
      ];
      expect(corners).toEqual(QUARTERS);
    }
  });

  it('may be enlarged, and have at least one pixel', async () => {
    const large = await posted(service, { mimeType, file: { content: imageOf(mimeType), ...crop(0, 0, 10, 20, 3) } });
    expect(await download(large, 'resized')).toMatchObject({ width: 30, height: 60 });
    const tiny = await posted(service, {
      mimeType,
      file: { content: imageOf(mimeType), ...crop(599, 399, 1, 1, 0.001) },
    });
    expect(await download(tiny, 'resized')).toMatchObject({ width: 1, height: 1 });
    expect(await colourAt((await download(tiny, 'cropped')).bytes, 0, 0)).toBe('#ffffff');
  });

  it('have a thumbnail that is no larger than what it shows', async () => {
    const content = (await sharp(images.get(mimeType)).resize(30, 20).toBuffer()).toString('base64');
    const small = await posted(service, { mimeType, file: { content, ...crop(0, 0, 10, 10, 1) } });
    expect(await download(small, 'thumbnail')).toMatchObject({ width: 30, height: 20 });
  });

  it('are not made unless all five values are there', async () => {
    const whole = crop(0, 0, 10, 10, 1);
    for (const name of Object.keys(whole)) {
      const called = await post(service, { mimeType, file: { content: imageOf(mimeType), ...whole, [name]: null } });
      expect(Object.keys(linksOf(called.body.data as WireRecord))).toEqual(['original']);
      expect(called.body.data).toMatchObject({ thumbNailId: null });
      expect(warningSources(called)).toHaveLength(1);
      expect(warningSources(called)[0]).toMatch(/^file\./);
    }
    const plain = await post(service, { mimeType, file: { content: imageOf(mimeType) } });
    expect([Object.keys(linksOf(plain.body.data as WireRecord)), warningSources(plain)]).toEqual([['original'], []]);
  });

  it.each<[string, WireRecord, string]>([
    ['too wide', crop(0, 0, 601, 10, 1), 'field.range file.width'],
    ['too high', crop(0, 0, 10, 401, 1), 'field.range file.height'],
    ['over the right edge', crop(591, 0, 10, 10, 1), 'field.range file.width'],
    ['over the lower edge', crop(0, 391, 10, 10, 1), 'field.range file.height'],
    ['without width', crop(0, 0, 0, 10, 1), 'field.range file.width'],
    ['without height', crop(0, 0, 10, 0, 1), 'field.range file.height'],
    ['left of the picture', crop(-1, 0, 10, 10, 1), 'field.range file.fromX'],
    ['above the picture', crop(0, -1, 10, 10, 1), 'field.range file.fromY'],
    ['scaled to nothing', crop(0, 0, 10, 10, 0), 'field.range file.ratio'],
    ['scaled below nothing', crop(0, 0, 10, 10, -1), 'field.range file.ratio'],
    ['scaled beyond all bounds', crop(0, 0, 600, 400, 1e6), 'field.range file.ratio'],
    ['of half pixels', crop(0.5, 0, 10, 10, 1), 'field.type file.fromX'],
    ['of words', { ...crop(0, 0, 10, 10, 1), ratio: 'big' }, 'field.type file.ratio'],
  ])('refuse a box %s', async (_name, box, error) => {
    const before = (await dump(service.service)).documents;
    const called = await post(service, { mimeType, file: { content: imageOf(mimeType), ...box } });
    expect(refusalOf(called)).toEqual({ status: 400, errors: [error] });
    expect((await dump(service.service)).documents).toEqual(before);
  });

  it('refuse bytes of another type', async () => {
    for (const other of ['PNG', 'JPEG', 'GIF'].filter((type) => type !== mimeType)) {
      expect(refusalOf(await post(service, { mimeType, file: { content: imageOf(other) } }))).toEqual({
        status: 400,
        errors: ['file.content file.content'],
      });
    }
  });

  it('refuse a picture that is cut short, and leave no file of it', async () => {
    const half = (images.get(mimeType) as Buffer)
      .subarray(0, Math.floor((images.get(mimeType) as Buffer).length / 2))
      .toString('base64');
    const called = await post(service, { mimeType, file: { content: half, ...crop(0, 0, 600, 400, 1) } });
    expect(refusalOf(called)).toEqual({ status: 400, errors: ['file.content file.content'] });
    expect(await service.service.files.leftovers()).toEqual([]);
  });
});

describe('crop values of other types', () => {
  it.each(['PDF', 'DOCX', 'MSG'])('are ignored with a warning: %s', async (mimeType) => {
    const called = await post(service, { mimeType, file: { content: 'AAAA', ...crop(0, 0, 10, 10, 1) } });
    expect(called.status).toBe(201);
    expect(Object.keys(linksOf(called.body.data as WireRecord))).toEqual(['original']);
    expect(warningSources(called)).toEqual(['file.fromX']);
  });
});

describe('a turned photograph', () => {
  it('is cut as people see it', async () => {
    // Orientation 6: the picture is to be turned right by a quarter, so it is 400 × 600 and blue stands top left.
    const content = (await picture('jpeg', 6)).toString('base64');
    const document = await posted(service, {
      name: 'turned',
      mimeType: 'JPEG',
      file: { content, ...crop(0, 0, 400, 600, 1) },
    });
    const cropped = await download(document, 'cropped');
    expect([cropped.width, cropped.height]).toEqual([400, 600]);
    expect([await colourAt(cropped.bytes, 50, 50), await colourAt(cropped.bytes, 350, 50)]).toEqual([
      '#0000ff',
      '#ff0000',
    ]);
  });
});

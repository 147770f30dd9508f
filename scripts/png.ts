// A smaller picture of the same size: at most 256 colours from a table instead of three bytes a pixel, for pictures of screens,
// which have few. Reads what a browser writes (8 bits, RGB or RGBA, not interlaced) and nothing else.
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const coloursMax = 256;

interface Picture {
  readonly width: number;
  readonly height: number;
  /** Red, green and blue of each pixel; nothing in a picture of a page is transparent. */
  readonly pixels: Buffer;
}

function read(png: Buffer): Picture {
  const data: Buffer[] = [];
  let [width, height, channels] = [0, 0, 0];
  for (let at = signature.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const body = png.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR') {
      [width, height] = [body.readUInt32BE(0), body.readUInt32BE(4)];
      channels = body[9] === 6 ? 4 : 3;
      if (body[8] !== 8 || (body[9] !== 6 && body[9] !== 2) || body[12] !== 0)
        throw new Error('a picture of another kind');
    }
    if (type === 'IDAT') data.push(body);
    at += length + 12;
  }
  const lines = unfiltered(inflateSync(Buffer.concat(data)), width * channels, height, channels);
  const pixels = Buffer.alloc(width * height * 3);
  for (let pixel = 0; pixel < width * height; pixel += 1)
    lines.copy(pixels, pixel * 3, pixel * channels, pixel * channels + 3);
  return { width, height, pixels };
}

/** The filters of a line of a PNG, taken away again. */
function unfiltered(raw: Buffer, stride: number, height: number, channels: number): Buffer {
  const out = Buffer.alloc(stride * height);
  for (let line = 0; line < height; line += 1) {
    const filter = raw[line * (stride + 1)] ?? 0;
    for (let at = 0; at < stride; at += 1) {
      const left = at < channels ? 0 : (out[line * stride + at - channels] ?? 0);
      const up = line === 0 ? 0 : (out[(line - 1) * stride + at] ?? 0);
      const upLeft = line === 0 || at < channels ? 0 : (out[(line - 1) * stride + at - channels] ?? 0);
      const value = raw[line * (stride + 1) + 1 + at] ?? 0;
      const guesses = [0, left, up, (left + up) >> 1, paeth(left, up, upLeft)];
      out[line * stride + at] = value + (guesses[filter] ?? 0);
    }
  }
  return out;
}

function paeth(left: number, up: number, upLeft: number): number {
  const guess = left + up - upLeft;
  const [toLeft, toUp, toBoth] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - upLeft)];
  if (toLeft <= toUp && toLeft <= toBoth) return left;
  return toUp <= toBoth ? up : upLeft;
}

const at = (pixels: Buffer, pixel: number): number => pixels.readUIntBE(pixel * 3, 3);

/** The most frequent colours; every other one becomes the nearest of them. */
function indexed({ width, height, pixels }: Picture): { readonly table: readonly number[]; readonly lines: Buffer } {
  const counts = new Map<number, number>();
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    const colour = at(pixels, pixel);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const table = [...counts]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, coloursMax)
    .map(([colour]) => colour);
  const places = new Map(table.map((colour, place) => [colour, place]));
  const lines = Buffer.alloc((width + 1) * height);
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    const colour = at(pixels, pixel);
    const place = places.get(colour) ?? nearest(table, colour);
    places.set(colour, place);
    lines[Math.floor(pixel / width) * (width + 1) + 1 + (pixel % width)] = place;
  }
  return { table, lines };
}

const parts = (colour: number): readonly number[] => [colour >> 16, (colour >> 8) & 255, colour & 255];

function nearest(table: readonly number[], colour: number): number {
  const [red = 0, green = 0, blue = 0] = parts(colour);
  let best = { place: 0, distance: Number.POSITIVE_INFINITY };
  for (const [place, other] of table.entries()) {
    const [r = 0, g = 0, b = 0] = parts(other);
    const distance = (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2;
    if (distance < best.distance) best = { place, distance };
  }
  return best.place;
}

function chunk(type: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), body]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(body.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

export function smallerPng(png: Buffer): Buffer {
  const picture = read(png);
  const { table, lines } = indexed(picture);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(picture.width, 0);
  head.writeUInt32BE(picture.height, 4);
  // Eight bits a pixel, which name a colour of the table.
  head.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('PLTE', Buffer.from(table.flatMap(parts))),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

// Reads an agent's own record of its conversation for people: finds it by the conversations that are bound to the run and
// by nothing else, and reads no more of its end than is needed.

import type { RunView, Transcript, TranscriptPlace } from '../agents/contract.ts';
import { linesOf } from '../agents/transcript/lines.ts';
import { limits } from '../model/limits.ts';
import type { FileLook, FileWatch } from '../platform/file-watch.ts';
import { FileError } from '../platform/files.ts';

export interface TranscriptPorts {
  readonly files: Pick<FileWatch, 'look' | 'readPiece' | 'entries'>;
  /** The texts that a query gives; null when the database cannot be asked now. */
  readonly textsFrom: (path: string, query: string, values: readonly (string | number)[]) => readonly string[] | null;
}

interface Found {
  readonly path: string;
  readonly look: FileLook;
}

/** The last lines of what was said; null when the record is not there or cannot be read now. */
export async function transcriptLines(
  ports: TranscriptPorts,
  transcript: Transcript,
  run: RunView,
  sessions: readonly string[],
  linesMax: number,
): Promise<readonly string[] | null> {
  // Ids come from payloads: what could leave a folder or mean something in a pattern is no id of a file.
  const plain = sessions.filter((session) => /^[A-Za-z0-9_-]{1,128}$/.test(session));
  if (plain.length === 0) return null;
  const places = transcript.places(run, plain);
  try {
    for (const place of places) {
      const rows = place.kind === 'database' ? rowsFrom(ports, place, linesMax) : null;
      if (rows !== null && rows.length > 0) return linesOf(transcript.read(rows), linesMax);
    }
    const found = await newestOf(ports, transcript, places, plain);
    return found === null ? null : await endOf(ports, transcript, found, linesMax);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return null;
  }
}

function rowsFrom(
  { textsFrom }: TranscriptPorts,
  { path, query, values }: TranscriptPlace & { kind: 'database' },
  linesMax: number,
): readonly string[] | null {
  return textsFrom(path, query, [...values, Math.min(linesMax, limits.transcriptRowsMax)])?.toReversed() ?? null;
}

/** A run may have had several conversations: the one that was written to last is the one it has now. */
async function newestOf(
  ports: TranscriptPorts,
  transcript: Transcript,
  places: readonly TranscriptPlace[],
  sessions: readonly string[],
): Promise<Found | null> {
  let best: Found | null = null;
  const known = new Set<string>();
  for (const place of places) {
    for (const path of await pathsAt(ports, place)) {
      if (known.has(path)) continue;
      known.add(path);
      const look = await ports.files.look(path);
      if (look === null || look.kind !== 'file' || (best !== null && look.mtimeMs <= best.look.mtimeMs)) continue;
      if (await isOf(ports, transcript, path, sessions)) best = { path, look };
    }
  }
  return best;
}

async function pathsAt({ files }: TranscriptPorts, place: TranscriptPlace): Promise<readonly string[]> {
  if (place.kind === 'database') return [];
  if (place.kind === 'journal') return [place.path];
  const name = new RegExp(place.name);
  const paths: string[] = [];
  for (const folder of await foldersAt(files, place.folder)) {
    const list = await files.entries(folder, limits.transcriptNamesMax);
    for (const entry of list?.entries ?? []) if (name.test(entry.name)) paths.push(`${folder}/${entry.name}`);
  }
  return paths;
}

async function foldersAt(files: TranscriptPorts['files'], folder: string): Promise<readonly string[]> {
  const at = folder.indexOf('/*');
  if (at < 0) return [folder];
  const above = folder.slice(0, at);
  const list = await files.entries(above, limits.transcriptNamesMax);
  const rest = folder.slice(at + 2);
  return (list?.entries ?? []).filter((entry) => entry.isFolder).map(({ name }) => `${above}/${name}${rest}`);
}

async function isOf(
  { files }: TranscriptPorts,
  transcript: Transcript,
  path: string,
  sessions: readonly string[],
): Promise<boolean> {
  if (transcript.isOf === undefined) return true;
  const piece = await files.readPiece(path, 0, limits.transcriptHeadBytesMax);
  const [row = ''] = Buffer.from(piece?.bytes ?? [])
    .toString()
    .split('\n', 1);
  return transcript.isOf(row, sessions);
}

/** More and more of its end, until there are lines enough, all of it was read, or it would be too much. */
async function endOf(
  { files }: TranscriptPorts,
  transcript: Transcript,
  { path, look }: Found,
  linesMax: number,
): Promise<readonly string[] | null> {
  for (let bytes = limits.transcriptPieceBytes; ; bytes *= 4) {
    const from = Math.max(0, look.sizeBytes - bytes);
    const piece = await files.readPiece(path, from, look.sizeBytes - from);
    if (piece === null) return null;
    const lines = linesOf(transcript.read(rowsIn(piece.bytes)), linesMax);
    if (lines.length >= linesMax || from === 0 || bytes >= limits.transcriptBytesMax) return lines;
  }
}

/** A row that is cut, at the beginning of the piece or while it is being written, is no JSON yet and passed over. */
const rowsIn = (bytes: Uint8Array): readonly string[] =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString().split('\n');

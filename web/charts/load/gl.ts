// The load in WebGL 2. A texture as large as the plot is a ring of rows of time: a pan draws the rows that come into
// view and copies the others, so its cost does not depend on what was recorded.
import type { LoadCells } from "../../api/load.ts";
import type { Rgb } from "../shared/ramp.ts";
import { FRAGMENT, VERTEX } from "./shader.ts";
import type { Slot } from "./layout.ts";

export interface LoadColours {
  readonly ground: Rgb;
  readonly grid: Rgb;
  readonly fill: Rgb;
  readonly tint: Rgb;
  readonly line: Rgb;
  readonly halfFill: Rgb;
  readonly halfTint: Rgb;
  readonly halfLine: Rgb;
  readonly band: Rgb;
  readonly hatch: Rgb;
}

/** A column in device pixels; `row`: of the rates, 0 the total; `half`: it is one of those who make more than half. */
export interface PaintedSlot extends Slot {
  readonly row: number;
  readonly half: boolean;
}

const COLOURS = ["ground", "grid", "fill", "tint", "line", "halfFill", "halfTint", "halfLine", "band", "hatch"] as const;

export class LoadPainter {
  private readonly gl: WebGL2RenderingContext;
  private readonly program: WebGLProgram;
  private readonly places = new Map<string, WebGLUniformLocation | null>();
  private readonly textures: readonly WebGLTexture[];
  private ring: { texture: WebGLTexture; buffer: WebGLFramebuffer; width: number; height: number } | null = null;
  /** Rows of time in the ring, counted from the first cell: the lowest, and how long one is in cells. */
  private bottom = 0;
  private scale = 0;
  private stale = true;

  /** null: the browser has no WebGL 2. */
  static on(canvas: HTMLCanvasElement): LoadPainter | null {
    const gl = canvas.getContext("webgl2", { alpha: false, antialias: false, depth: false, stencil: false, preserveDrawingBuffer: true });
    return gl === null ? null : new LoadPainter(gl);
  }

  private constructor(gl: WebGL2RenderingContext) {
    this.gl = gl;
    this.program = program(gl);
    this.textures = [0, 1, 2].map((unit) => texture(gl, unit));
    gl.useProgram(this.program);
    ["rates", "marks", "slots"].forEach((name, unit) => gl.uniform1i(this.place(name), unit));
  }

  private place(name: string): WebGLUniformLocation | null {
    if (!this.places.has(name)) this.places.set(name, this.gl.getUniformLocation(this.program, name));
    return this.places.get(name) ?? null;
  }

  colours(colours: LoadColours): void {
    for (const name of COLOURS) this.gl.uniform3f(this.place(name), ...(colours[name].map((v) => v / 255) as [number, number, number]));
    this.stale = true;
  }

  /** Rates and marks of `rows` columns, the total one of them. */
  data({ values, cells }: LoadCells, rows: number): void {
    const { gl } = this;
    const pairs = new Float32Array(2 * rows * cells);
    for (let row = 0; row < rows; row += 1) {
      for (let cell = 0; cell < cells; cell += 1) {
        const to = 2 * (row * cells + cell);
        pairs[to] = values[2 * row * cells + cell] ?? 0;
        pairs[to + 1] = values[(2 * row + 1) * cells + cell] ?? 0;
      }
    }
    const marks = new Float32Array(2 * cells);
    for (let cell = 0; cell < cells; cell += 1) {
      marks[2 * cell] = values[2 * rows * cells + cell] ?? 0;
      marks[2 * cell + 1] = values[(2 * rows + 1) * cells + cell] ?? 0;
    }
    gl.uniform1i(this.place("cells"), cells);
    this.upload(0, gl.RG32F, Math.max(1, cells), Math.max(1, rows), gl.RG, cells === 0 ? new Float32Array(2) : pairs);
    this.upload(1, gl.RG32F, Math.max(1, cells), 1, gl.RG, cells === 0 ? new Float32Array(2) : marks);
    this.stale = true;
  }

  /** `width`, `height`: of the canvas, in device pixels, as all of the slots. */
  layout(slots: readonly PaintedSlot[], width: number, height: number): void {
    const { gl } = this;
    const pixels = new Float32Array(4 * width).fill(-1);
    for (const { row, left, width: wide, perPixel, half } of slots) {
      const begin = Math.round(left);
      for (let x = begin; x < Math.min(width, Math.round(left + wide)); x += 1) pixels.set([row, x - begin, perPixel, half ? 1 : 0], 4 * x);
    }
    this.upload(2, gl.RGBA32F, width, 1, gl.RGBA, pixels);
    if (gl.canvas.width !== width || gl.canvas.height !== height) [gl.canvas.width, gl.canvas.height] = [width, height];
    if (this.ring?.width !== width || this.ring.height !== height) this.makeRing(width, height);
    this.stale = true;
  }

  private upload(unit: number, kind: number, width: number, height: number, format: number, values: Float32Array): void {
    const { gl } = this;
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(gl.TEXTURE_2D, this.textures[unit] ?? null);
    gl.texImage2D(gl.TEXTURE_2D, 0, kind, width, height, 0, format, gl.FLOAT, values);
  }

  private makeRing(width: number, height: number): void {
    const { gl } = this;
    if (this.ring !== null) {
      gl.deleteTexture(this.ring.texture);
      gl.deleteFramebuffer(this.ring.buffer);
    }
    const made = texture(gl, 3);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, width, height, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
    const buffer = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, buffer);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, made, 0);
    this.ring = { texture: made, buffer, width, height };
  }

  /** Draws time from cell `first` (with a fraction) upwards, `scale` cells a row of pixels. */
  draw(first: number, scale: number): void {
    const { gl, ring } = this;
    if (ring === null) return;
    const { height } = ring;
    const bottom = Math.round(first / scale);
    const all = this.stale || scale !== this.scale || Math.abs(bottom - this.bottom) >= height;
    gl.bindFramebuffer(gl.FRAMEBUFFER, ring.buffer);
    gl.enable(gl.SCISSOR_TEST);
    gl.viewport(0, 0, ring.width, height);
    gl.uniform1f(this.place("cellsPerRow"), scale);
    if (all) this.rows(bottom, bottom + height, scale);
    else if (bottom > this.bottom) this.rows(this.bottom + height, bottom + height, scale);
    else if (bottom < this.bottom) this.rows(bottom, this.bottom, scale);
    [this.bottom, this.scale, this.stale] = [bottom, scale, false];
    gl.disable(gl.SCISSOR_TEST);
    const low = mod(bottom, height);
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, ring.buffer);
    gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, null);
    gl.blitFramebuffer(0, low, ring.width, height, 0, 0, ring.width, height - low, gl.COLOR_BUFFER_BIT, gl.NEAREST);
    if (low > 0) gl.blitFramebuffer(0, 0, ring.width, low, 0, height - low, ring.width, height, gl.COLOR_BUFFER_BIT, gl.NEAREST);
  }

  /** Rows of time [from, until) into the ring: at most two pieces of it. */
  private rows(from: number, until: number, scale: number): void {
    const { gl, ring } = this;
    if (ring === null) return;
    for (let row = from; row < until; ) {
      const place = mod(row, ring.height);
      const count = Math.min(until - row, ring.height - place);
      gl.scissor(0, place, ring.width, count);
      gl.uniform1i(this.place("firstRow"), place);
      gl.uniform1f(this.place("firstCell"), row * scale);
      gl.drawArrays(gl.TRIANGLES, 0, 3);
      row += count;
    }
  }

  destroy(): void {
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }
}

const mod = (value: number, by: number): number => ((value % by) + by) % by;

function texture(gl: WebGL2RenderingContext, unit: number): WebGLTexture {
  const made = gl.createTexture();
  gl.activeTexture(gl.TEXTURE0 + unit);
  gl.bindTexture(gl.TEXTURE_2D, made);
  for (const [name, value] of [[gl.TEXTURE_MIN_FILTER, gl.NEAREST], [gl.TEXTURE_MAG_FILTER, gl.NEAREST], [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE]] as const) {
    gl.texParameteri(gl.TEXTURE_2D, name, value);
  }
  return made;
}

function program(gl: WebGL2RenderingContext): WebGLProgram {
  const made = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]] as const) {
    const shader = gl.createShader(kind);
    if (shader === null) throw new Error("WebGL has no shader");
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (gl.getShaderParameter(shader, gl.COMPILE_STATUS) !== true) throw new Error(gl.getShaderInfoLog(shader) ?? "the shader does not compile");
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  return made;
}

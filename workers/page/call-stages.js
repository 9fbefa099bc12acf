/** The stages of a call's setup, each with its time. */

/**
 * @typedef {object} Stage
 * @property {string} name
 * @property {number} start Milliseconds since the call was asked for.
 * @property {number} end
 */

export class CallStages {
  /** @type {readonly Stage[]} In the order they ended. */
  all = [];

  #origin = performance.now();
  #mark = 0;

  /** @param {string} name */
  has(name) {
    return this.all.some((stage) => stage.name === name);
  }

  /** A stage begins here, and the next one that {@link end} is told of was it. */
  begin() {
    this.#mark = this.#now();
  }

  /** @param {string} name Of the stage that ends. */
  end(name) {
    this.all = [...this.all, { name, start: this.#mark, end: this.#now() }];
  }

  #now() {
    return performance.now() - this.#origin;
  }
}

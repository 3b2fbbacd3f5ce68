// Unpacks the numbers that Python packed (surefoot/report/packing.py).

const KINDS = { f8: Float64Array, f4: Float32Array, u4: Uint32Array, u2: Uint16Array, i2: Int16Array, u1: Uint8Array };

function unpack(text, kind) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return new KINDS[kind](bytes.buffer);
}

// A series in steps; 65535 stands for "nothing". With k columns each has its own low and step.
function dequantise(series) {
  const counts = unpack(series.data, 'u2');
  const low = [].concat(series.low), step = [].concat(series.step), k = low.length;
  const out = new Float32Array(counts.length);
  for (let i = 0; i < counts.length; i++) {
    out[i] = counts[i] === 65535 ? NaN : low[i % k] + step[i % k] * counts[i];
  }
  return out;
}

// The last index with times[index] <= t.
function indexAt(times, t) {
  let low = 0, high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= t) low = middle; else high = middle - 1;
  }
  return low;
}

// Where t lies between two frames: { k, next, share }.
function placeAt(times, t) {
  const k = indexAt(times, t), next = Math.min(k + 1, times.length - 1);
  const width = times[next] - times[k];
  return { k, next, share: width > 0 ? Math.min(1, Math.max(0, (t - times[k]) / width)) : 0 };
}

function mixed(values, place, offset, stride) {
  const a = values[place.k * stride + offset], b = values[place.next * stride + offset];
  return a + (b - a) * place.share;
}

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'class') made.className = value;
    else if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && (value !== false || name.startsWith('aria'))) made.setAttribute(name, value === true && !name.startsWith('aria') ? '' : value);
  }
  for (const child of children) if (child !== null && child !== undefined) made.append(child);
  return made;
}

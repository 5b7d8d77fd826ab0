"""A server that takes a tone of 400 Hz for its wake word, made with Home Assistant's own package."""

import argparse
import array
import asyncio
from functools import partial

from wyoming.audio import AudioChunk, AudioChunkConverter, AudioStart, AudioStop
from wyoming.event import Event
from wyoming.info import Attribution, Describe, Info, WakeModel, WakeProgram
from wyoming.server import AsyncEventHandler, AsyncServer
from wyoming.wake import Detect, Detection, NotDetected

WORD = "ok_tone"
about = dict(attribution=Attribution(name="earshot", url="https://example.org"), installed=True, description=None, version="1")
INFO = Info(wake=[WakeProgram(name="tones", models=[WakeModel(name=WORD, languages=["en"], phrase="a tone", **about)], **about)])


class Handler(AsyncEventHandler):
    def __init__(self, *args):
        super().__init__(*args)
        self.names, self.heard, self.loud, self.rises, self.last, self.detected = None, 0, 0, 0, 0, False
        self.to16k = AudioChunkConverter(rate=16000, width=2, channels=1)

    async def handle_event(self, event: Event) -> bool:
        if Describe.is_type(event.type):
            await self.write_event(INFO.event())
        elif Detect.is_type(event.type):
            self.names = Detect.from_event(event).names
        elif AudioStart.is_type(event.type):
            self.heard, self.loud, self.rises, self.last, self.detected = 0, 0, 0, 0, False
        elif AudioChunk.is_type(event.type):
            for sample in array.array("h", self.to16k.convert(AudioChunk.from_event(event)).audio):
                self.heard += 1
                self.loud += abs(sample) > 1000
                self.rises += self.last <= 0 < sample
                self.last = sample
            # An eighth of a second of the tone; higher ones rise more often.
            if self.loud >= 2000 and self.rises * 30 < self.loud and not self.detected and self.names in (None, [], [WORD]):
                self.detected = True
                await self.write_event(Detection(name=WORD, timestamp=self.heard // 16).event())
        elif AudioStop.is_type(event.type) and not self.detected:
            await self.write_event(NotDetected().event())
        return True


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--uri", required=True)
    await AsyncServer.from_uri(parser.parse_args().uri).run(partial(Handler))


asyncio.run(main())

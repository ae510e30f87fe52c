"""Records of games of Avalon that others played: read, held against the rules, and written as transcripts.

`import_records` knows the formats; `read_transcripts` reads a folder of transcripts, whoever made them. What the formats
look like stands in docs/records.md.
"""

from parlour.training.records.avalon.reading import FORMATS, import_records, transcripts
from parlour.training.records.avalon.stored import assumed_moves, read_transcripts
from parlour.training.records.importing import AUTO

__all__ = ["AUTO", "FORMATS", "assumed_moves", "import_records", "read_transcripts", "transcripts"]
